//! Reading and searching the help articles. Knows nothing of HTTP or tools.

use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;

use crate::gateway::demo::store::{ErrorKind, ShopError, Store};

// More words than a question has; a bound on the work of one search.
const MAX_WORDS: usize = 12;

/// A help article.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Article {
    pub(super) slug: String,
    pub(super) title: String,
    pub(super) section: String,
    pub(super) summary: String,
    pub(super) body: String,
}

impl Store {
    /// Every article in its order, or the best `limit` for a question.
    pub(super) fn articles(&self, q: Option<&str>, limit: usize) -> Result<Vec<Article>, ShopError> {
        self.with(|connection| match q.filter(|q| !q.trim().is_empty()) {
            None => {
                let sql = "SELECT slug, title, section, summary, body FROM articles ORDER BY position";
                Ok(connection.prepare_cached(sql)?.query_map([], article)?.collect::<Result<_, _>>()?)
            }
            Some(q) => search(connection, q, limit),
        })
    }

    /// One article.
    pub(super) fn article(&self, slug: &str) -> Result<Article, ShopError> {
        let sql = "SELECT slug, title, section, summary, body FROM articles WHERE slug = ?1";
        let found = self.with(|connection| Ok(connection.query_row(sql, [slug], article).optional()?))?;
        found.ok_or_else(|| ShopError::new(ErrorKind::NotFound, format!("there is no article \"{slug}\"")))
    }
}

// Articles with every word first; with any of them only where there is none.
fn search(connection: &Connection, q: &str, limit: usize) -> Result<Vec<Article>, ShopError> {
    let words = quoted_words(q);
    for query in [words.join(" AND "), words.join(" OR ")].iter().filter(|query| !query.is_empty()) {
        let found = matching(connection, query, limit)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

fn matching(connection: &Connection, query: &str, limit: usize) -> Result<Vec<Article>, ShopError> {
    // A word in the title says more than one in the text.
    let sql = format!(
        "SELECT a.slug, a.title, a.section, a.summary, a.body
         FROM article_words w JOIN articles a ON a.slug = w.slug
         WHERE article_words MATCH ?1 ORDER BY bm25(article_words, 0, 8, 3, 1), a.position LIMIT {limit}"
    );
    Ok(connection.prepare_cached(&sql)?.query_map([query], article)?.collect::<Result<_, _>>()?)
}

// FTS5 reads AND, NEAR(, *, : and more as commands, but nothing within a quoted string (FTS5 §3.1). A word here is
// letters and digits only, so it holds no quote; the star after it matches beginnings, for a search while typing.
fn quoted_words(q: &str) -> Vec<String> {
    q.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS)
        .map(|word| format!("\"{word}\"*"))
        .collect()
}

fn article(row: &Row<'_>) -> rusqlite::Result<Article> {
    Ok(Article { slug: row.get(0)?, title: row.get(1)?, section: row.get(2)?, summary: row.get(3)?, body: row.get(4)? })
}

//! Names that look like another name. Knows nothing of tools.

/// Up to three of `known` that look like `name`, nearest first.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let limit = name.chars().count().max(6) / 2;
    let mut scored: Vec<(usize, &str)> = known
        .filter_map(|candidate| {
            let distance = distance(name, candidate);
            let shares_word =
                candidate.split('_').any(|word| word.len() > 3 && name.split('_').any(|other| other == word));
            (distance <= limit || shares_word).then_some((distance, candidate))
        })
        .collect();
    scored.sort_unstable();
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

// Levenshtein's distance over characters, one row at a time; `a` is cut because a model may send a name of any length.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().take(128).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

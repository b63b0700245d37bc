//! Fills a new shop: 200 customers, 500 orders, 60 help articles, the same every time.
//!
//! Knows nothing of a clock: the shop's days are 18 October to 14 November 2026.

use rusqlite::{Transaction, params};

use crate::gateway::demo::ShopError;
use crate::gateway::demo::help::ARTICLES;
use crate::gateway::demo::words::{CARRIERS, FIRST, LAST, NOTES, PLACES, REFUND_REASONS, WARES};

/// An order that is not packed and sent since this moment is late: three days before the last.
pub(super) const LATE_BEFORE: &str = "2026-11-11T22:30:00Z";

const ORDERS: usize = 500;
const CUSTOMERS: usize = 200;
const DAYS: usize = 28;
const DAY: i64 = 24 * 60;
// Minutes from the first day's midnight to 14 November, 22:30.
const NOW: i64 = 27 * DAY + 22 * 60 + 30;

pub(super) fn fill(transaction: &Transaction<'_>) -> Result<(), ShopError> {
    fill_customers(transaction)?;
    let mut dice = Dice(1042);
    for index in 0..ORDERS {
        let order = if index == 42 { example(index) } else { order(index, &mut dice) };
        insert(transaction, &order)?;
    }
    fill_articles(transaction)
}

fn fill_customers(transaction: &Transaction<'_>) -> Result<(), ShopError> {
    let mut insert = transaction.prepare("INSERT INTO customers VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
    let mut dice = Dice(7);
    for index in 0..CUSTOMERS {
        // Every round over the first names moves the last names on, so no pair comes twice.
        let (first, last) = (FIRST[index % 40], LAST[(index + index / 40 * 11) % 40]);
        let place = &PLACES[(index * 7) % PLACES.len()];
        let since = format!("{}-{:02}-{:02}", 2021 + dice.roll(5), 1 + dice.roll(12), 1 + dice.roll(28));
        insert.execute(params![
            customer_id(index),
            format!("{first} {last}"),
            format!("{}.{}@example.com", ascii(first), ascii(last)),
            dice.digits(place.phone),
            format!("{} {}", place.street, 1 + dice.roll(88)),
            dice.digits(place.postcode),
            place.city,
            place.country,
            since,
        ])?;
    }
    Ok(())
}

fn fill_articles(transaction: &Transaction<'_>) -> Result<(), ShopError> {
    let mut insert = transaction.prepare("INSERT INTO articles VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    let mut index = transaction.prepare("INSERT INTO article_words VALUES (?1, ?2, ?3, ?4)")?;
    for (position, (slug, section, title, body)) in ARTICLES.iter().enumerate() {
        let summary = body.split_inclusive(". ").next().unwrap_or(body).trim();
        insert.execute(params![slug, position, title, section, summary, body])?;
        index.execute(params![slug, title, section, body])?;
    }
    Ok(())
}

struct Order {
    id: String,
    customer: usize,
    status: &'static str,
    placed: i64,
    lines: Vec<(usize, i64)>,
    parcel: Option<(&'static str, String)>,
    shipped: Option<i64>,
    delivered: Option<i64>,
    history: Vec<(i64, String)>,
    note: Option<(i64, usize)>,
    refund: Option<(i64, usize)>,
}

fn order(index: usize, dice: &mut Dice) -> Order {
    let day = index * DAYS / ORDERS;
    let placed = placed(index, dice);
    let status = fixed_status(index).unwrap_or_else(|| status(DAYS - 1 - day, dice));
    let customer = if index % 97 == 42 { 0 } else { dice.roll(CUSTOMERS) };
    let (name, shape) = CARRIERS[dice.roll(CARRIERS.len())];
    let parcel = (name, dice.digits(shape));
    let lines = lines(dice);
    let packed = (placed + 120 + dice.roll(1200) as i64).min(NOW - 30);
    let shipped = (packed + 60 + dice.roll(600) as i64).min(NOW - 20);
    let delivered = (shipped + 1500 + dice.roll(3600) as i64).min(NOW - 10);
    let ended = (delivered + 600 + dice.roll(3000) as i64).min(NOW);
    let was_sent = matches!(status, "shipped" | "delivered" | "refunded");
    let arrived = matches!(status, "delivered" | "refunded");
    let refund = (status == "refunded").then(|| (ended, dice.roll(REFUND_REASONS.len())));
    let mut history = vec![(placed, "Order placed".to_owned()), (placed + 2, "Payment received".to_owned())];
    if was_sent || status == "packed" {
        history.push((packed, "Packed in the Gothenburg warehouse".to_owned()));
    }
    if was_sent {
        history.push((shipped, format!("Handed to {name}")));
    }
    if arrived {
        history.push((delivered, "Delivered".to_owned()));
    }
    if status == "cancelled" {
        history.push((packed, "Cancelled at the customer's request, payment returned".to_owned()));
    }
    if let Some((at, reason)) = refund {
        history.push((at, format!("Refunded in full: {}", REFUND_REASONS[reason])));
    }
    Order {
        id: order_id(index),
        customer,
        status,
        placed,
        lines,
        parcel: was_sent.then_some(parcel),
        shipped: was_sent.then_some(shipped),
        delivered: arrived.then_some(delivered),
        history,
        note: (dice.roll(5) == 0).then(|| (placed + 45, dice.roll(NOTES.len()))),
        refund,
    }
}

// A-1042, which the documentation and the demo's suggestions speak of.
fn example(index: usize) -> Order {
    let placed = placed(index, &mut Dice(0));
    let (packed, shipped) = (24 * DAY + 11 * 60 + 5, 25 * DAY + 9 * 60 + 40);
    let history = [
        (placed, "Order placed"),
        (placed + 2, "Payment received"),
        (placed + DAY, "Waiting for stock: Tarn 2 tent"),
        (packed, "Packed in the Gothenburg warehouse"),
        (shipped, "Handed to DHL"),
    ];
    Order {
        id: order_id(index),
        customer: 0,
        status: "shipped",
        placed,
        lines: vec![(0, 1), (6, 2), (37, 1)],
        parcel: Some(("DHL", "JD014600003RE1042".to_owned())),
        shipped: Some(shipped),
        delivered: None,
        history: history.map(|(at, text)| (at, text.to_owned())).into(),
        note: Some((placed + DAY + 30, 4)),
        refund: None,
    }
}

fn insert(transaction: &Transaction<'_>, order: &Order) -> Result<(), ShopError> {
    let total: i64 = order.lines.iter().map(|(ware, quantity)| WARES[*ware].2 * quantity).sum();
    let (carrier, number) = order.parcel.as_ref().map(|(carrier, number)| (*carrier, number.as_str())).unzip();
    transaction.prepare_cached("INSERT INTO orders VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?.execute(params![
        order.id,
        customer_id(order.customer),
        order.status,
        stamp(order.placed),
        total,
        carrier,
        number,
        order.shipped.map(stamp),
        order.delivered.map(stamp),
    ])?;
    for (position, (ware, quantity)) in order.lines.iter().enumerate() {
        let (sku, title, cents) = WARES[*ware];
        transaction
            .prepare_cached("INSERT INTO lines VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![order.id, position, sku, title, quantity, cents])?;
    }
    for (at, text) in &order.history {
        transaction
            .prepare_cached("INSERT INTO history (order_id, at, text) VALUES (?1, ?2, ?3)")?
            .execute(params![order.id, stamp(*at), text])?;
    }
    if let Some((at, note)) = order.note {
        let (author, text) = NOTES[note];
        transaction
            .prepare_cached("INSERT INTO notes (order_id, at, author, text) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![order.id, stamp(at), author, text])?;
    }
    if let Some((at, reason)) = order.refund {
        transaction.prepare_cached("INSERT INTO refunds VALUES (?1, ?2, ?3, ?4)")?.execute(params![
            order.id,
            total,
            stamp(at),
            REFUND_REASONS[reason]
        ])?;
    }
    Ok(())
}

// Orders of a day are spread from seven in the morning to half past nine, in the order of their numbers.
fn placed(index: usize, dice: &mut Dice) -> i64 {
    let day = index * DAYS / ORDERS;
    let first_of_day = (day * ORDERS).div_ceil(DAYS);
    day as i64 * DAY + 7 * 60 + (index - first_of_day) as i64 * 48 + dice.roll(45) as i64
}

// Numbers the demo's sentences compare.
fn fixed_status(index: usize) -> Option<&'static str> {
    match index {
        43 | 60 => Some("delivered"),
        51 => Some("packed"),
        _ => None,
    }
}

// Of a hundred orders of an age in days: pending, packed, shipped, delivered, cancelled; the rest is refunded.
fn status(age: usize, dice: &mut Dice) -> &'static str {
    let shares = match age {
        0 => [75, 20, 0, 0, 5],
        1 => [35, 40, 20, 0, 5],
        2 | 3 => [10, 15, 65, 6, 4],
        4..=6 => [4, 3, 35, 52, 3],
        _ => [2, 2, 4, 80, 6],
    };
    let mut left = dice.roll(100);
    for (status, share) in ["pending", "packed", "shipped", "delivered", "cancelled"].into_iter().zip(shares) {
        if left < share {
            return status;
        }
        left -= share;
    }
    "refunded"
}

// One to four different wares; of small things sometimes several.
fn lines(dice: &mut Dice) -> Vec<(usize, i64)> {
    let first = dice.roll(WARES.len());
    (0..=dice.roll(4))
        .map(|step| {
            let ware = (first + step * 17) % WARES.len();
            let most = if WARES[ware].2 < 6000 { 3 } else { 1 };
            (ware, 1 + dice.roll(most) as i64)
        })
        .collect()
}

fn order_id(index: usize) -> String {
    format!("A-{}", 1000 + index)
}

fn customer_id(index: usize) -> String {
    format!("C-{:03}", index + 1)
}

// Minutes from the first midnight to text, as RFC 3339 writes it.
fn stamp(minutes: i64) -> String {
    let (day, minute) = (18 + minutes / DAY, minutes % DAY);
    let (month, day) = if day > 31 { (11, day - 31) } else { (10, day) };
    format!("2026-{month:02}-{day:02}T{:02}:{:02}:00Z", minute / 60, minute % 60)
}

fn ascii(name: &str) -> String {
    name.to_lowercase()
        .chars()
        .filter_map(|letter| match letter {
            'ö' | 'ó' => Some('o'),
            'á' => Some('a'),
            letter => letter.is_ascii_alphanumeric().then_some(letter),
        })
        .collect()
}

// A linear congruential generator (Knuth's MMIX constants); the upper bits are the good ones.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn digits(&mut self, shape: &str) -> String {
        let digit = |dice: &mut Self| char::from(b'0' + dice.roll(10) as u8);
        shape.chars().map(|letter| if letter == '#' { digit(self) } else { letter }).collect()
    }
}

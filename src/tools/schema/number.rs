//! Exact arithmetic on the numbers of JSON, and equality of values. Knows nothing of schemas.
//!
//! A float alone would say that 0.3 is no multiple of 0.1, and that 9007199254740993 is 9007199254740992.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Which of two numbers is greater; 1 and 1.0 are the same number (JSON Schema Core §4.2.2).
pub(super) fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// The number as an integer, where it is one: 3.0 is (Core §4.2.3), and models write it so.
pub(super) fn whole(number: &Number) -> Option<i128> {
    if let Some(number) = number.as_i64() {
        return Some(i128::from(number));
    }
    if let Some(number) = number.as_u64() {
        return Some(i128::from(number));
    }
    // Floats of this size are whole, and an i128 holds them exactly.
    number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e38).map(|number| number as i128)
}

/// Whether the number is an integer of any size.
pub(super) fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// The number of a `multipleOf`, taken apart once.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) written: Number,
    digits: u128,
    power: i32,
}

impl Unit {
    /// `None` where it is no number greater than 0.
    pub(super) fn new(number: &Number) -> Option<Self> {
        let (digits, power) = decimal(number)?;
        let fits = digits > 0 && number.as_f64().is_some_and(|number| number > 0.0);
        fits.then(|| Self { written: number.clone(), digits, power })
    }

    /// Whether a number is a multiple, as the decimals they are written as.
    pub(super) fn divides(&self, number: &Number) -> bool {
        if let (Some(number), Some(unit)) = (number.as_i64(), self.written.as_i64()) {
            return number.checked_rem(unit) == Some(0);
        }
        match self.scaled(number) {
            Some(Some(scaled)) => u128::from(scaled).is_multiple_of(self.digits),
            Some(None) => false,
            None => decimal(number).is_some_and(|(digits, power)| self.divides_decimal(digits, power)),
        }
    }

    // How many of the unit's last decimal the number is; `Some(None)` where it has more decimals than that. No text is
    // made for it: up to 15 digits a float and its decimal stand for each other. `None` beyond.
    fn scaled(&self, number: &Number) -> Option<Option<u64>> {
        let scale = 10_f64.powi(Some(-self.power).filter(|power| (0..=15).contains(power))?);
        let number = number.as_f64()?.abs();
        let scaled = (number * scale).round();
        (scaled < 1e15).then(|| (scaled / scale == number).then_some(scaled as u64))
    }

    fn divides_decimal(&self, digits: u128, power: i32) -> bool {
        if power >= self.power {
            // digits · 10^(power − self.power) modulo the unit, without the great number itself.
            let step = (power - self.power).unsigned_abs();
            return (0..step).fold(digits % self.digits, |rest, _| rest * 10 % self.digits) == 0;
        }
        let unit = (power..self.power).try_fold(self.digits, |unit, _| unit.checked_mul(10));
        digits == 0 || unit.is_some_and(|unit| digits.is_multiple_of(unit))
    }
}

// The digits before the power of ten. A number of JSON has at most 20 digits here, so ten times a rest fits.
fn decimal(number: &Number) -> Option<(u128, i32)> {
    let text = number.to_string();
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-')).parse().ok()?;
    let power = power.trim_start_matches('+').parse::<i32>().ok()?;
    Some((digits, power - i32::try_from(fraction.len()).ok()?))
}

/// Equality of values by Core §4.2.2. Each comparison takes one from `steps`; without steps nothing is the same.
pub(super) fn same(a: &Value, b: &Value, steps: &mut u32) -> bool {
    let Some(left) = steps.checked_sub(1) else { return false };
    *steps = left;
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || compare(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, steps)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b, steps)))
        }
        _ => a == b,
    }
}

/// Whether a value is nested deeper than `limit`; looks no deeper than that.
pub(super) fn is_deeper(value: &Value, limit: usize) -> bool {
    let Some(below) = limit.checked_sub(1) else { return true };
    match value {
        Value::Array(list) => list.iter().any(|value| is_deeper(value, below)),
        Value::Object(map) => map.values().any(|value| is_deeper(value, below)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

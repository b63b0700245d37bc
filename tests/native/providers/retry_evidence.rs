//! Whether and when to ask again: what heads and bodies of answers say.

use pagehand::protocol::{ModelError, ModelErrorKind};
use pagehand::providers::error::{of_answer, redact, without_key};
use pagehand::wire::retry::{RetryAdvice, decimal, http_date};
use serde_json::{Value, json};

use super::error_in;

// Wed, 21 Oct 2026 07:27:00 GMT
const NOW: u64 = 1_792_567_620_000;

fn advice(headers: &[(&str, &str)]) -> (Option<bool>, Option<u64>) {
    let header = |name: &str| headers.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
    let RetryAdvice { retry, after_ms } = RetryAdvice::read(header, http_date, NOW);
    (retry, after_ms)
}

/// A head, and what it says.
type Case<'a> = (&'a [(&'a str, &'a str)], (Option<bool>, Option<u64>));

#[test]
fn a_head_is_read_in_the_order_of_its_evidence() {
    let cases: &[Case<'_>] = &[
        (&[], (None, None)),
        (&[("x-should-retry", "true")], (Some(true), None)),
        (&[("x-should-retry", " false "), ("retry-after", "3")], (Some(false), Some(3_000))),
        (&[("x-should-retry", "perhaps")], (None, None)),
        (&[("retry-after-ms", "250"), ("retry-after", "9")], (None, Some(250))),
        (&[("retry-after-ms", "250.9")], (None, Some(250))),
        (&[("retry-after-ms", "soon"), ("retry-after", "9")], (None, Some(9_000))),
        (&[("retry-after", " 2 ")], (None, Some(2_000))),
        (&[("retry-after", "1.5")], (None, Some(1_500))),
        (&[("retry-after", "0")], (None, Some(0))),
        (&[("retry-after", "-1")], (None, None)),
        (&[("retry-after", "18446744073709551615")], (None, Some(u64::MAX))),
        (&[("retry-after", "99999999999999999999999")], (None, Some(u64::MAX))),
        (&[("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")], (None, Some(60_000))),
        (&[("retry-after", "Wednesday, 21-Oct-26 07:28:00 GMT")], (None, Some(60_000))),
        (&[("retry-after", "Wed Oct 21 07:28:00 2026")], (None, Some(60_000))),
        (&[("retry-after", "Wed, 21 Oct 2026 07:26:00 GMT")], (None, Some(0))),
        (&[("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT")], (None, Some(0))),
        // A clock that is an hour behind ours.
        (
            &[("retry-after", "Wed, 21 Oct 2026 06:28:00 GMT"), ("date", "Wed, 21 Oct 2026 06:27:50 GMT")],
            (None, Some(10_000)),
        ),
    ];
    for (headers, expected) in cases {
        assert_eq!(advice(headers), *expected, "{headers:?}");
    }
    for nonsense in
        ["Wed, 99 Oct 2026 07:28:00 GMT", "Wed, 21 Okt 2026 07:28:00 GMT", "21 Oct", "", "Wed, 21 Oct 12 7 GMT"]
    {
        assert_eq!(advice(&[("retry-after", nonsense)]).1, None, "{nonsense}");
    }
}

#[test]
fn dates_are_days_since_1970() {
    let at = |date: &str| advice(&[("retry-after", date), ("date", "Thu, 01 Jan 1970 00:00:00 GMT")]).1.unwrap() / 1000;
    assert_eq!(at("Thu, 01 Jan 1970 00:00:01 GMT"), 1);
    assert_eq!(at("Tue, 29 Feb 2000 12:00:00 GMT"), 951_825_600);
    assert_eq!(at("Wed, 01 Mar 2000 00:00:00 GMT"), 951_868_800);
    assert_eq!(at("Fri, 31 Dec 2100 23:59:59 GMT"), 4_133_980_799);
    assert_eq!(decimal("45.8"), Some(45_800));
    assert_eq!(decimal("."), None);
}

#[test]
fn the_words_of_an_answers_error_are_found_wherever_they_stand() {
    let detail = json!([{ "loc": ["body", "tools"], "msg": "Extra inputs are not permitted", "input": [] }]);
    for (body, expected) in [
        (json!({ "detail": "No." }), "No."),
        (json!({ "message": "No." }), "No."),
        (json!({ "detail": detail }), "body.tools: Extra inputs are not permitted"),
        (json!({ "object": "error", "message": { "detail": detail } }), "body.tools: Extra inputs are not permitted"),
        (
            json!({ "error": { "message": "Provider returned error", "metadata": { "raw": "Too long." } } }),
            "Provider returned error: Too long.",
        ),
        (
            json!({ "error": { "message": "Oh", "metadata": { "raw": "{\"error\":{\"message\":\"Too long.\"}}" } } }),
            "Oh: Too long.",
        ),
        (json!({ "detail": [] }), "The model's server answered with HTTP 422."),
        (json!("No."), "The model's server answered with HTTP 422."),
    ] {
        let error = pagehand::providers::error::of_answer(422, RetryAdvice::default(), &body.to_string());
        assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::BadRequest, expected), "{body}");
    }
}

#[test]
fn a_body_says_what_its_head_left_out() {
    use ModelErrorKind::{Auth, BadRequest, RateLimit, Upstream};
    let delay = json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "45.8s" });
    let quota =
        |id: &str| json!({ "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{ "quotaId": id }] });
    let google = |details: Vec<Value>| json!([{ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota.", "details": details } }]);
    let cases = [
        (json!({ "error": { "message": "m", "code": "insufficient_quota" } }), RateLimit, Some(false), None),
        (
            json!({ "error": { "message": "m", "type": "insufficient_quota", "code": null } }),
            RateLimit,
            Some(false),
            None,
        ),
        (
            json!({ "error": { "message": "m", "type": "tokens", "code": "rate_limit_exceeded" } }),
            RateLimit,
            None,
            None,
        ),
        (json!({ "error": { "message": "m", "type": "invalid_request_error" } }), BadRequest, None, None),
        (json!({ "error": { "message": "m", "type": "authentication_error" } }), Auth, None, None),
        (json!({ "error": { "message": "m", "type": "overloaded_error" } }), Upstream, None, None),
        (json!({ "error": { "message": "m", "code": 503 } }), Upstream, None, None),
        (json!({ "error": { "message": "m", "code": "invalid_base64_image" } }), BadRequest, None, None),
        (
            json!({ "error": { "message": "m", "code": "tool_use_failed", "type": "invalid_request_error" } }),
            BadRequest,
            Some(true),
            None,
        ),
        // llama.cpp's template, which takes the same request no better a second time.
        (
            json!({ "error": { "message": "m at row 49, column 79:\n", "code": 500, "type": "server_error" } }),
            Upstream,
            Some(false),
            None,
        ),
        (
            json!({ "error": { "message": "tools param requires --jinja flag", "code": 500, "type": "server_error" } }),
            Upstream,
            Some(false),
            None,
        ),
        (google(vec![delay.clone()]), RateLimit, None, Some(45_800)),
        (
            google(vec![quota("GenerateRequestsPerMinutePerProjectPerModel"), delay.clone()]),
            RateLimit,
            None,
            Some(45_800),
        ),
        (
            google(vec![quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), delay]),
            RateLimit,
            Some(false),
            Some(45_800),
        ),
        (google(vec![json!({ "retryDelay": 45 }), json!(7)]), RateLimit, None, None),
    ];
    for (body, kind, retry, wait) in cases {
        let error = error_in("openai_compatible", &body).unwrap();
        assert_eq!((error.kind, error.retry, error.retry_after_ms), (kind, retry, wait), "{body}");
    }
}

#[test]
fn what_a_server_has_not_built_is_not_asked_for_again() {
    assert!(!of_answer(501, RetryAdvice::default(), "").is_retryable());
}

#[test]
fn a_refused_key_is_told_in_our_words_and_a_refused_person_in_the_servers() {
    let told = |status, body: Value| of_answer(status, RetryAdvice::default(), &body.to_string());
    let region = json!({ "error": { "message": "Country not supported", "code": "unsupported_country" } });
    for (status, body, words) in [
        (401, region.clone(), "The model's server refused the key (HTTP 401)."),
        (403, json!({}), "The model's server refused the key (HTTP 403)."),
        (403, region, "Country not supported"),
        (403, json!({ "error": { "message": "No access", "status": "PERMISSION_DENIED" } }), "No access"),
        (
            400,
            json!({ "error": { "message": "sk-1", "code": "invalid_api_key" } }),
            "The model's server refused the key.",
        ),
    ] {
        let error = told(status, body);
        assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Auth, words));
    }
}

#[test]
fn a_key_is_taken_out_of_words_whole_or_quoted_in_part() {
    let key = "sk-proj-abcdefghijklmnop";
    for (words, expected) in [
        ("wrong: sk-proj-abcdefghijklmnop!", "wrong: [key]!"),
        ("wrong: sk-proj-abcdef… and more", "wrong: [key]… and more"),
        ("sk-proj- alone", "sk-proj- alone"),
        ("nothing", "nothing"),
    ] {
        assert_eq!(redact(key, words), expected);
    }
    assert_eq!(redact("", "all stays"), "all stays");
    let told = |kind, words: &str| without_key(ModelError::new(kind, words), key).message;
    assert_eq!(told(ModelErrorKind::Auth, "No: sk-p****nop"), "The model's server refused the key.");
    assert_eq!(told(ModelErrorKind::Auth, "No access"), "No access");
    assert_eq!(told(ModelErrorKind::Upstream, "sk-proj-abcdefghijkl is down"), "[key] is down");
}

#[test]
fn a_key_that_only_fills_a_field_hides_nothing() {
    let words =
        "no tool order_lookup: ollama, none, EMPTY, not-needed, lm-studio, LM-Studio, sk-no-key-required, dummy";
    for key in ["k", "o", "up", "ollama", "none", "EMPTY", "dummy", "lm-studio", "not-needed", "sk-no-key-required"] {
        assert_eq!(redact(key, words), words, "{key}");
        for kind in [ModelErrorKind::Auth, ModelErrorKind::Upstream] {
            assert_eq!(without_key(ModelError::new(kind, words), key).message, words, "{key}");
        }
    }
    assert_eq!(redact("12345678", "no 12345678"), "no [key]", "the shortest key that is hidden");
}

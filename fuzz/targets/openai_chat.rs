#![no_main]

mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| common::vendor("openai_chat", bytes));

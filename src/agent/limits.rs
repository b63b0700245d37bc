//! How far a run may go. Knows nothing of what it does on the way.

use serde_json::Value;

use crate::protocol::{EndReason, Millis, Names, Usage};

/// The bounds of one run. The defaults leave room for real work and stop what runs away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Model calls a run. Default 24.
    pub max_steps: u32,
    /// Calls a step. Default 32.
    pub max_calls: usize,
    /// Working time of a run in milliseconds; waiting for the user, for the network and between two tries is not
    /// counted. Default 10 minutes.
    pub max_run_ms: u64,
    /// How often the same tool may run with the same arguments in one run. Default 3.
    pub max_repeats: u32,
    /// How long a call may take where its definition does not say, in milliseconds. Default 60 s.
    pub tool_timeout_ms: u64,
    /// How many characters of a result a model reads at once; a longer one is kept as an artifact. Default 48,000,
    /// about 12,000 tokens.
    pub max_result_characters: usize,
    /// How long a model's stream may be silent, in milliseconds. Default 120 s.
    pub model_idle_ms: u64,
    /// How many times a step's model call is made again by itself where it failed or broke off. Default 4.
    pub max_retries: u32,
    /// The longest wait that the other side may ask for before it is asked again by itself, in milliseconds; where it
    /// asks for more the run ends, and the user is told when to try again. Default 60 s.
    pub max_wait_ms: u64,
    /// Calls that run at once in a step; the others wait in their order. What the user is asked about does not count.
    /// Default 8.
    pub max_parallel: usize,
    /// How many characters the arguments of one call may have; more are not kept, and the call is not run.
    /// Default 1,000,000.
    pub max_arguments: usize,
    /// Tokens a run, read and written, looked at between its steps. Default: any number.
    pub max_tokens: Option<u64>,
    /// What a run may cost in millionths of the gateway's currency, looked at between its steps; nothing where the
    /// gateway knows no prices. Default: anything.
    pub max_cost_micros: Option<u64>,
}

// What a page calls each limit, and the least it can be.
const NAMES: [(&str, u64); 13] = [
    ("maxSteps", 1),
    ("maxCalls", 1),
    ("maxParallel", 1),
    ("maxRunMs", 1),
    ("maxRepeats", 1),
    ("toolTimeoutMs", 1),
    ("modelIdleMs", 1),
    ("maxResultCharacters", 1),
    ("maxRetries", 0),
    ("maxWaitMs", 0),
    ("maxArguments", 1),
    ("maxTokens", 1),
    ("maxCostMicros", 1),
];

impl Limits {
    /// These limits, but for what an object such as `{"maxSteps": 8, "maxTokens": 100000}` says of some of them by their
    /// names in camelCase: whole numbers, or `null` for what is to stay as it is here.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn with(mut self, told: &Value) -> Result<Self, Vec<String>> {
        let Some(told) = told.as_object() else {
            return Err(vec!["limits are an object, such as { maxSteps: 8 }".to_owned()]);
        };
        let mut faults = Vec::new();
        for (name, most) in told.iter().filter(|(_, most)| !most.is_null()) {
            let Some((_, least)) = NAMES.iter().find(|(known, _)| known == name) else {
                let names = NAMES.map(|(name, _)| name).join(", ");
                faults.push(format!("{name}: no such limit; there are {names}"));
                continue;
            };
            match most.as_u64().filter(|most| most >= least) {
                Some(most) => self.set(name, most),
                None => faults.push(format!("{name}: must be a whole number, {least} or more")),
            }
        }
        if faults.is_empty() { Ok(self) } else { Err(faults) }
    }

    fn set(&mut self, name: &str, most: u64) {
        let (number, size) = (most.try_into().unwrap_or(u32::MAX), most.try_into().unwrap_or(usize::MAX));
        match name {
            "maxSteps" => self.max_steps = number,
            "maxCalls" => self.max_calls = size,
            "maxParallel" => self.max_parallel = size,
            "maxRunMs" => self.max_run_ms = most,
            "maxRepeats" => self.max_repeats = number,
            "toolTimeoutMs" => self.tool_timeout_ms = most,
            "modelIdleMs" => self.model_idle_ms = most,
            "maxResultCharacters" => self.max_result_characters = size,
            "maxRetries" => self.max_retries = number,
            "maxWaitMs" => self.max_wait_ms = most,
            "maxArguments" => self.max_arguments = size,
            "maxTokens" => self.max_tokens = Some(most),
            _ => self.max_cost_micros = Some(most),
        }
    }

    /// Why a run that has used this much begins no further step.
    pub(super) fn used_up(&self, spent: &Spent, usage: Usage) -> Option<EndReason> {
        let used = usage.tokens();
        let cost = usage.cost_micros.zip(self.max_cost_micros).filter(|(used, limit)| used >= limit);
        if spent.steps >= self.max_steps {
            return Some(EndReason::MaxSteps { limit: self.max_steps });
        }
        if let Some(limit) = self.max_tokens.filter(|limit| used >= *limit) {
            return Some(EndReason::MaxTokens { limit, used });
        }
        cost.map(|(used_micros, limit_micros)| EndReason::MaxCost { limit_micros, used_micros })
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 24,
            max_calls: 32,
            max_run_ms: 10 * 60_000,
            max_repeats: 3,
            tool_timeout_ms: 60_000,
            max_result_characters: 48_000,
            model_idle_ms: 120_000,
            max_retries: 4,
            max_wait_ms: 60_000,
            max_parallel: 8,
            max_arguments: 1_000_000,
            max_tokens: None,
            max_cost_micros: None,
        }
    }
}

/// What a run has used up.
#[derive(Clone, Debug, Default)]
pub(super) struct Spent {
    /// Model calls.
    pub(super) steps: u32,
    working_ms: u64,
    last_at: Option<Millis>,
    repeats: Names<u32>,
}

impl Spent {
    /// What a run that was cut off in this step has used up; its time and its repetitions count anew.
    pub(super) fn up_to(steps: u32) -> Self {
        Self { steps, ..Self::default() }
    }

    /// Lets time pass; it counts only while the run itself was at work.
    pub(super) fn pass(&mut self, at: Millis, working: bool) {
        if let Some(last) = self.last_at
            && working
        {
            self.working_ms += at.saturating_sub(last);
        }
        self.last_at = Some(at);
    }

    /// Working time left, in milliseconds; zero when it is used up.
    pub(super) fn left_ms(&self, limits: &Limits) -> u64 {
        limits.max_run_ms.saturating_sub(self.working_ms)
    }

    /// Counts one more call of this tool with these arguments; `false` where that is too often.
    pub(super) fn count_call(&mut self, name: &str, arguments: &Value, limits: &Limits) -> bool {
        // serde_json keeps keys sorted, so equal arguments have one text.
        let call = format!("{name} {arguments}");
        let count = self.repeats.get(&call).copied().unwrap_or_default() + 1;
        self.repeats.insert(call, count);
        count <= limits.max_repeats
    }
}

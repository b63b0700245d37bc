//! Sheets → what is served. One bad entry takes nothing else down: the last good version of it stays, if there was one.

use serde_json::Value;

use crate::gateway::catalog::file::{Entry, Sheet};
use crate::gateway::catalog::{Catalog, Good, Refused, Served};
use crate::gateway::tools::{ServerTool, ServerTools};
use crate::tools::{Policy, Problem, Profile, Rules};

impl Catalog {
    // `good` becomes what is good now. `Err`: not even the tools of code can be served as they should.
    pub(super) fn assemble(&self, sheets: &[Sheet], good: &mut Good) -> Result<Served, Vec<Problem>> {
        let before = std::mem::take(good);
        let mut refused = Vec::new();
        let mut rules: Vec<Value> = Vec::new();
        let mut profiles: Vec<Profile> = Vec::new();
        for sheet in sheets {
            refused.extend(sheet.faults.iter().cloned().map(|problem| sheet.refused(problem)));
            let kept = if sheet.unreadable { before.rules.get(&sheet.file) } else { sheet.rules.as_ref() };
            if let Some(kept) = kept.or_else(|| before.rules.get(&sheet.file)) {
                rules.extend(kept.iter().cloned());
                good.rules.insert(sheet.file.clone(), kept.clone());
            }
            let kept = if sheet.unreadable { before.profiles.get(&sheet.file) } else { Some(&sheet.profiles) };
            for profile in kept.into_iter().flatten() {
                if profiles.iter().any(|other| other.name == profile.name) {
                    let words = "it is declared twice; leave one of them out".to_owned();
                    refused.push(sheet.refused(Problem::of_profile(&profile.name, words)));
                } else {
                    profiles.push(profile.clone());
                }
            }
            good.profiles.insert(sheet.file.clone(), kept.cloned().unwrap_or_default());
        }
        let registry_rules = Rules { profiles: profiles.clone(), ..self.rules.clone() };
        let tools = ServerTools::within(registry_rules, self.code.clone())?;
        let mut desk = Desk { tools, before, good, refused };
        sheets.iter().for_each(|sheet| desk.add_sheet(sheet));
        let Desk { tools, refused, .. } = desk;
        // Each sheet's rules were read before, so there is nothing wrong with all of them together.
        let policy = Policy::from_json(&Value::from(rules.clone())).unwrap_or_default();
        Ok(Served { tools, policy, rules, profiles, refused })
    }
}

struct Desk<'a> {
    tools: ServerTools,
    before: Good,
    good: &'a mut Good,
    refused: Vec<Refused>,
}

impl Desk<'_> {
    fn add_sheet(&mut self, sheet: &Sheet) {
        if sheet.unreadable {
            let of_file = self.before.tools.iter().filter(|((file, _), _)| *file == sheet.file);
            let kept: Vec<ServerTool> = of_file.map(|(_, tool)| tool.clone()).collect();
            for tool in kept {
                self.add(&sheet.file, tool);
            }
            return;
        }
        for entry in &sheet.entries {
            self.add_entry(sheet, entry);
        }
    }

    fn add_entry(&mut self, sheet: &Sheet, entry: &Entry) {
        let problems = match &entry.tool {
            Ok(tool) => match self.add(&sheet.file, tool.clone()) {
                None => return,
                Some(problems) => problems,
            },
            Err(faults) => faults.iter().map(|fault| entry.problem(fault.clone())).collect(),
        };
        self.refused.extend(problems.into_iter().map(|problem| sheet.refused(problem)));
        let last = self.before.tools.get(&(sheet.file.clone(), entry.name.clone())).cloned();
        if let Some(last) = last {
            self.add(&sheet.file, last);
        }
    }

    fn add(&mut self, file: &str, tool: ServerTool) -> Option<Vec<Problem>> {
        let key = (file.to_owned(), tool.definition.name.clone());
        match self.tools.add(tool.clone()) {
            Ok(()) => {
                self.good.tools.insert(key, tool);
                None
            }
            Err(problems) => Some(problems),
        }
    }
}

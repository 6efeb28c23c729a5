//! The families that a rule was written from, and its findings in others.

use std::collections::{BTreeMap, BTreeSet};

use super::{LabelledSkill, judged::RuleOrigins};

/// The home of each rule: the families that it was written from, for one way to divide the corpus into families.
pub(crate) struct HomeOf<'a> {
    homes: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

/// Whether the rules of other families find a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// A rule of another family makes it critical.
    Found,
    /// Only rules from its own family do, or none.
    Missed,
}

impl<'a> HomeOf<'a> {
    /// The homes: what the rule states, or the family in which it finds most.
    pub(crate) fn new(
        rules: &'a RuleOrigins,
        skills: &'a [LabelledSkill],
        family: fn(&LabelledSkill) -> &String,
    ) -> Self {
        let mut hits: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for skill in skills.iter().filter(|skill| skill.malicious) {
            for rule in skill.skill.critical_rules() {
                let families = hits.entry(rule).or_default();
                *families.entry(family(skill)).or_default() += 1;
            }
        }
        let stated = |rule: &str| -> BTreeSet<&'a str> {
            let families = rules.get(rule).into_iter().flatten();
            families.map(String::as_str).collect()
        };
        let homes = hits
            .iter()
            .map(|(rule, families)| {
                let mut homes = stated(rule);
                // For ties the last one: the order of names decides, not chance.
                if homes.is_empty() {
                    homes.extend(
                        families
                            .iter()
                            .max_by_key(|(_, hits)| **hits)
                            .map(|(name, _)| *name),
                    );
                }
                (*rule, homes)
            })
            .collect();
        Self { homes }
    }

    /// Whether a rule from elsewhere makes it critical. False alarms count wherever the rule comes from.
    pub(crate) fn finds(&self, skill: &LabelledSkill) -> LeftOut {
        let at_home = |rule: &str| skill.malicious && self.is_home(rule, skill);
        match skill
            .skill
            .critical_rules()
            .into_iter()
            .any(|rule| !at_home(rule))
        {
            true => LeftOut::Found,
            false => LeftOut::Missed,
        }
    }

    /// A rule that states collections is at home in all families of them.
    fn is_home(&self, rule: &str, skill: &LabelledSkill) -> bool {
        let homes = self.homes.get(rule);
        homes.is_some_and(|homes| {
            homes.contains(skill.stratum.as_str()) || homes.contains(skill.family.as_str())
        })
    }

    /// The findings of each rule at home and elsewhere, and the skills that only it finds.
    pub(crate) fn print_yield(&self, skills: &[LabelledSkill]) {
        let mut yields: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
        for skill in skills {
            let rules = skill.skill.critical_rules();
            for rule in &rules {
                let counts = yields.entry(rule).or_default();
                if !skill.malicious {
                    counts[3] += 1;
                } else if self.is_home(rule, skill) {
                    counts[0] += 1;
                } else {
                    counts[1] += 1;
                }
                counts[2] += usize::from(skill.malicious && rules.len() == 1);
            }
        }
        println!(
            "\n{:44} {:>6} {:>9} {:>10} {:>7}  home",
            "rule", "home", "elsewhere", "only cause", "benign"
        );
        for (rule, [home, elsewhere, sole, benign]) in &yields {
            let homes: Vec<&str> = self
                .homes
                .get(rule)
                .into_iter()
                .flatten()
                .copied()
                .collect();
            println!(
                "{rule:44} {home:6} {elsewhere:9} {sole:10} {benign:7}  {}",
                homes.join(", ")
            );
        }
        let local: Vec<&str> = yields
            .iter()
            .filter(|(_, [home, elsewhere, ..])| *home > 0 && *elsewhere == 0)
            .map(|(rule, _)| *rule)
            .collect();
        println!(
            "\n{} of {} rules pay only at home: {}",
            local.len(),
            yields.len(),
            local.join(", ")
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan_eval::judged::{JudgedFinding, JudgedSkill};

    fn skill(malicious: bool, stratum: &str, rules: &[&str]) -> LabelledSkill {
        LabelledSkill {
            malicious,
            stratum: stratum.to_owned(),
            family: stratum.to_owned(),
            skill: JudgedSkill {
                path: String::new(),
                name: String::new(),
                digest: String::new(),
                verdict: "critical".to_owned(),
                files: 1,
                findings: rules
                    .iter()
                    .map(|rule| JudgedFinding {
                        rule: (*rule).to_owned(),
                        critical: true,
                        place: String::new(),
                        message: String::new(),
                        evidence: String::new(),
                    })
                    .collect(),
                unread: Vec::new(),
            },
        }
    }

    #[test]
    fn a_skill_counts_only_if_a_rule_of_another_family_finds_it() {
        let rules: RuleOrigins = [
            (
                "general".to_owned(),
                vec!["elsewhere".to_owned(), "a".to_owned()],
            ),
            ("local".to_owned(), Vec::new()),
        ]
        .into();
        let skills = [
            skill(true, "a", &["general"]),
            skill(true, "b", &["general"]),
            skill(true, "b", &["local"]),
            skill(true, "b", &["local"]),
            skill(true, "c", &["local"]),
            skill(false, "b", &["local"]),
        ];
        let homes = HomeOf::new(&rules, &skills, |skill| &skill.stratum);
        let found: Vec<LeftOut> = skills.iter().map(|skill| homes.finds(skill)).collect();
        use LeftOut::{Found, Missed};
        assert_eq!(found, [Missed, Found, Missed, Missed, Found, Found]);
    }
}

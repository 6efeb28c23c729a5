//! From fetched bytes to a card: quarantine, validation, scan, permissions, and the comparison with what is installed.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

use metier_catalog::{CatalogEntry, Root, Snapshot};
use metier_hub::fetch::FetchedSkill;
use metier_model::{Need, name::departures};
use metier_package::{LockedSkill, VerdictWord};
use metier_policy::{Identity, PermissionRequest, Reason, RequestedPermission};
use metier_runtime::{Inventory, permissions as asked, render::LoadedSkill, requests};

use super::{
    card::{InstallCard, InstallCardFinding, InstallCardPermission, InstallCardVerdict},
    draft::checkpoint,
    installed_files::PresentSkill,
    obstacles::{blocked, breaks, invalid, missing, shadowed, warnings},
    places::InstallScope,
    plan::{InstallPlan, PlannedSkill},
    quarantine::Quarantine,
};
use crate::{
    Error, Workspace,
    grant_terms::terms,
    permissions::PermissionDecision,
    scans::{ScanOptions, ScannedSkill, Verdict},
    text::one_line,
};

/// The longest name of a folder of a skill.
const MAX_NAME: usize = 64;

/// A skill in quarantine that was validated and scanned.
struct CheckedFetch {
    fetched: FetchedSkill,
    entry: CatalogEntry,
    /// The name of the folder that it gets.
    key: String,
    reasons: Vec<Reason>,
    scan: ScannedSkill,
    held: Arc<Snapshot>,
}

impl Workspace {
    /// Validates and scans fetched skills, and compares each with what is installed. Nothing outside the quarantine changes.
    pub(crate) fn plan_skills(
        &self,
        title: &str,
        fetched: Vec<FetchedSkill>,
        scope: InstallScope,
    ) -> Result<InstallPlan, Error> {
        let quarantine = self.quarantine()?;
        checkpoint("quarantine");
        let checked = self.check_fetched(&quarantine, fetched, scope)?;
        checkpoint("compare");
        self.check_stop()?;
        let installed = self.inventory()?;
        let mut sources = BTreeMap::new();
        for one in &checked {
            let source = one.fetched.origin.source.as_str();
            if let Some(other) = sources.insert(one.key.as_str(), source) {
                return Err(self.same_name(&one.key, [other, source], scope));
            }
        }
        let keys: BTreeSet<String> = sources.into_keys().map(str::to_owned).collect();
        let skills: Result<Vec<PlannedSkill>, Error> = checked
            .into_iter()
            .map(|one| self.plan_skill(one, scope, &installed, &keys))
            .collect();
        let skills = skills?;
        let names: Vec<&str> = skills.iter().map(|skill| &*skill.key).collect();
        Ok(InstallPlan {
            title: format!("{title} {}", shortened(&names)),
            workspace: self.clone(),
            skills,
            others: Vec::new(),
            left_out: Vec::new(),
            is_partial: false,
        })
    }

    /// Two skills can't have one folder: one of them has to be chosen.
    fn same_name(&self, key: &str, sources: [&str; 2], scope: InstallScope) -> Error {
        let message = format!("two of the skills have the name `{key}`");
        let error = Error::unmet("twice", message).skill(key);
        let lines = sources.iter().map(|one| format!("from {}", one_line(one)));
        lines.fold(error, Error::detail).hint(format!(
            "install one of them: metier {} {}",
            scope.verb(),
            self.typed_source(sources[0])
        ))
    }

    /// Writes skills into the quarantine, reads them there as any other skill, and scans them.
    fn check_fetched(
        &self,
        quarantine: &Quarantine,
        fetched: Vec<FetchedSkill>,
        scope: InstallScope,
    ) -> Result<Vec<CheckedFetch>, Error> {
        let mut places = Vec::new();
        for (number, one) in fetched.iter().enumerate() {
            let name = folder_name(&one.name).unwrap_or_else(|| "skill".to_owned());
            places.push(quarantine.write(number, &name, &one.tree)?);
        }
        let mut examined = self.examine_places(&places, scope);
        // The folder has the name that the manifest states; the source may have used another.
        let mut is_renamed = false;
        for (place, one) in places.iter_mut().zip(&fetched) {
            let name = entry_at(&examined, place).map(|(entry, _)| entry.name().into_owned());
            let key = folder_name(&name.unwrap_or_else(|| one.name.clone()));
            if let Some(key) = key.filter(|key| !place.ends_with(key)) {
                *place = quarantine.rename(place, &key)?;
                is_renamed = true;
            }
        }
        if is_renamed {
            examined = self.examine_places(&places, scope);
        }
        let mut found = Vec::new();
        for (place, one) in places.iter().zip(&fetched) {
            let (entry, reasons) = entry_at(&examined, place).ok_or_else(|| no_manifest(one))?;
            found.push((entry.clone(), reasons.to_vec()));
        }
        let entries: Vec<CatalogEntry> = found.iter().map(|(entry, _)| entry.clone()).collect();
        let usual = self.catalog()?;
        let scan_gate = self.screening(&usual);
        scan_gate.check_rules()?;
        let scans = self.scan_entries(&scan_gate, &usual, &entries, ScanOptions::default())?;
        let all = fetched.into_iter().zip(found).zip(scans).zip(places);
        all.map(|(((fetched, (entry, reasons)), scan), place)| {
            let unreadable = |error: metier_catalog::ReadError| {
                Error::unmet("unreadable", error.to_string()).skill(&fetched.name)
            };
            let held = scan_gate.snapshot(&entry).map_err(unreadable)?;
            let tree = fetched.tree.digest();
            if held.digest != tree || scan.digest != Some(tree) {
                let message = "the skill was changed in quarantine while it was scanned";
                return Err(Error::broken("changed", message).skill(&fetched.name));
            }
            let key = place.file_name().map(|name| name.to_string_lossy());
            Ok(CheckedFetch {
                key: key.unwrap_or_default().into_owned(),
                fetched,
                entry,
                reasons,
                scan,
                held: Arc::new(held),
            })
        })
        .collect()
    }

    fn examine_places(&self, places: &[PathBuf], scope: InstallScope) -> Inventory {
        let roots = places.iter().cloned();
        let roots = roots.map(|place| Root::explicit(scope.source(), place));
        self.examine(roots.collect(), self.mode())
    }

    fn plan_skill(
        &self,
        checked: CheckedFetch,
        scope: InstallScope,
        installed: &Inventory,
        planned: &BTreeSet<String>,
    ) -> Result<PlannedSkill, Error> {
        let CheckedFetch {
            fetched,
            entry,
            key,
            reasons,
            scan,
            held,
        } = checked;
        let place = self.scope_places(scope)?.skill(&key);
        let present = PresentSkill::look(self, scope, &key)?;
        let mut obstacles = invalid(&entry, &key);
        obstacles.extend(blocked(&scan));
        let mut permissions = Vec::new();
        let mut open = Vec::new();
        let mut identity = Identity {
            skill: entry.name().as_ref().into(),
            source: scope.source(),
            digest: held.digest,
        };
        if entry.card.is_some() && obstacles.iter().all(|one| !one.is_final()) {
            let loaded = self.loaded(&entry, Snapshot::clone(&held))?;
            identity = requests::identity(&loaded);
            (permissions, open) = self.card_permissions(&loaded, &identity, &present)?;
        }
        let version = version_of(&entry);
        let origin = &fetched.origin;
        let judged = self.judge_signer(&fetched, present.locked())?;
        let signer = judged.key.map(|key| key.to_string());
        obstacles.extend(present.obstacles(&fetched.tree, origin));
        obstacles.extend(judged.obstacle);
        let before = present.locked().map_or(held.digest, |locked| locked.tree);
        let known = [held.digest, before];
        obstacles.extend(shadowed(installed, &entry, &place, &known));
        obstacles.extend(breaks(installed, &key, version.as_deref(), planned));
        let card = InstallCard {
            name: entry.name().into_owned(),
            description: entry
                .card
                .as_ref()
                .map_or_else(String::new, |card| card.description.to_string()),
            version: version.clone(),
            source: origin.source.clone(),
            registry: origin.registry.clone(),
            commit: origin.commit.clone(),
            signer: signer.clone(),
            digest: held.digest,
            files: fetched.tree.files().len(),
            bytes: fetched
                .tree
                .files()
                .iter()
                .map(|file| file.bytes.len() as u64)
                .sum(),
            scope,
            action: present.action(held.digest),
            before: present.card(&fetched.tree, &permissions),
            verdict: verdict(&scan),
            missing: missing(&reasons),
            warnings: warnings(&entry, installed),
            permissions,
            obstacles,
            place,
        };
        let locked = LockedSkill {
            version: version.and_then(|version| version.parse().ok()),
            source: origin.source.clone(),
            registry: origin.registry.clone(),
            commit: origin.commit.clone(),
            archive: origin.archive,
            tree: held.digest,
            original: None,
            signer,
            permissions: Vec::new(),
            requires: required(&entry),
            agents: present
                .locked()
                .map_or_else(Vec::new, |locked| locked.agents.clone()),
            verdict: verdict_word(scan.verdict()),
            rules: rules(self),
        };
        Ok(PlannedSkill {
            card,
            key,
            tree: fetched.tree,
            locked,
            identity,
            open,
            keeps_lock: false,
            held,
        })
    }

    /// The permissions that a skill requests, and those of them without an answer.
    fn card_permissions(
        &self,
        loaded: &LoadedSkill,
        identity: &Identity,
        present: &PresentSkill,
    ) -> Result<(Vec<InstallCardPermission>, Vec<RequestedPermission>), Error> {
        let states = self.permissions_of(loaded)?;
        let request: PermissionRequest = asked::everything(loaded, &self.config);
        let request = request.as_asked_of(identity, &terms(self));
        let is_open = |want: &str| {
            let mut states = states.iter();
            states
                .any(|state| state.permission == want && state.decision == PermissionDecision::Ask)
        };
        let open = request
            .iter()
            .filter(|asked| is_open(&asked.want.to_string()));
        let open: Vec<RequestedPermission> = open.cloned().collect();
        let before = present.locked().map(|locked| &locked.permissions);
        let cards = states.iter().map(|state| InstallCardPermission {
            permission: state.permission.clone(),
            meaning: state.meaning.clone(),
            decision: state.decision,
            is_new: before.is_some_and(|before| !before.contains(&state.permission)),
        });
        Ok((cards.collect(), open))
    }
}

/// Names in a sentence: all of a few, the first of many.
fn shortened(names: &[&str]) -> String {
    match names {
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second}, {third} and {} more", rest.len())
        }
        few => few.join(", "),
    }
}

/// The name of the folder for a skill with this name: a name as in the specification, or one that is derived from it.
pub(crate) fn folder_name(name: &str) -> Option<String> {
    if departures(name).next().is_none() && !name.is_empty() {
        return Some(name.to_owned());
    }
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut made = words.join("-");
    made.truncate(MAX_NAME);
    let made = made.trim_end_matches('-');
    (!made.is_empty()).then(|| made.to_owned())
}

fn entry_at<'i>(
    inventory: &'i Inventory,
    place: &std::path::Path,
) -> Option<(&'i CatalogEntry, &'i [Reason])> {
    let mut skills = inventory.skills.iter();
    let found = skills.find(|skill| *inventory.entry(skill).place.path() == *place)?;
    Some((inventory.entry(found), &found.reasons))
}

fn no_manifest(fetched: &FetchedSkill) -> Error {
    let message = format!("`{}` contains no skill that can be read", fetched.name);
    Error::unmet("skill-file-missing", message)
        .detail(format!("from {}", fetched.origin.source))
        .hint("a skill is a folder with a SKILL.md or a SKILL.yaml")
}

fn verdict(scan: &ScannedSkill) -> InstallCardVerdict {
    let mut findings: Vec<InstallCardFinding> = scan
        .report
        .findings
        .iter()
        .map(|finding| InstallCardFinding {
            severity: finding.severity,
            rule: finding.rule.id().to_owned(),
            message: finding.message.clone(),
            file: finding.place.file.clone(),
            line: (finding.place.line > 0).then_some(finding.place.line),
        })
        .collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let unread = scan.report.unread.iter();
    InstallCardVerdict {
        verdict: scan.verdict(),
        findings,
        unread: unread
            .map(|one| format!("{}: {}", one.file, one.why))
            .collect(),
        is_accepted: scan.acceptance.is_some(),
    }
}

const fn verdict_word(verdict: Verdict) -> VerdictWord {
    match verdict {
        Verdict::Clean => VerdictWord::Clean,
        Verdict::Info => VerdictWord::Info,
        Verdict::Warning => VerdictWord::Warning,
        Verdict::Incomplete => VerdictWord::Incomplete,
        Verdict::Critical => VerdictWord::Critical,
    }
}

/// The rules that a verdict follows from, in words that are the same on every machine.
fn rules(workspace: &Workspace) -> String {
    let preset = match workspace.config.scan.rules {
        metier_config::ScanRules::Evidence => "evidence",
        metier_config::ScanRules::Seed => "seed",
    };
    format!("{preset}-{}", env!("CARGO_PKG_VERSION"))
}

fn version_of(entry: &CatalogEntry) -> Option<String> {
    let version = entry.card.as_ref()?.version.as_ref()?;
    Some(version.as_str().to_owned())
}

fn required(entry: &CatalogEntry) -> Vec<String> {
    let requirements = entry.card.iter().flat_map(|card| &card.requirements);
    let names = requirements.filter_map(|requirement| match &requirement.need {
        Need::Skill(dependency) if !dependency.optional => Some(dependency.name.to_string()),
        _ => None,
    });
    names.collect::<BTreeSet<String>>().into_iter().collect()
}

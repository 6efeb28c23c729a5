//! The cost of permissions, for `cargo xtask bench render`: each line is a name and a number.
//!
//! `activation METIER FOLDER` needs the program, which contains the shim of the sandbox, and an empty folder.

use std::{
    ffi::OsString,
    fs,
    os::fd::AsFd,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use metier_catalog::{DiscoveryLimits, DiscoveryOptions, MemoryBudget, Root, discover};
use metier_host::{
    child::{self, ChildSpec, Confinement},
    sandbox::{SandboxProfile, credential_places, system_read},
};
use metier_model::{Digest, Source, Strictness};
use metier_policy::{
    Act, ActMeter, CommandLine, Decision, GrantTerms, Identity, PermissionAnswer,
    PermissionRequest, Rates, RequestReason, RequestedPermission, Ruling, rule,
};
use metier_runtime::render::{self, Arguments, LoadedSkill, NoCommands, RenderVariables};
use metier_store::{Approval, ApprovalDecision, Store};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(metier), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: activation METIER FOLDER".into());
    };
    activation(&folder)?;
    permits()?;
    lookups(&folder)?;
    children(&metier, &folder)
}

#[allow(clippy::print_stdout, reason = "printing is what this program is for")]
fn tell(name: &str, value: f64) {
    println!("{name} {value}");
}

/// The median time of one call, in microseconds.
fn median(
    rounds: usize,
    mut work: impl FnMut() -> Outcome,
) -> Result<f64, Box<dyn std::error::Error>> {
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// A skill of the usual size, without commands: read, rendered and framed.
fn activation(folder: &Path) -> Outcome {
    let skill = folder.join("skills/plain");
    fs::create_dir_all(&skill)?;
    let body = "Look at the report, then write down what is missing and why.\n".repeat(85);
    let text = format!(
        "---\nname: plain\ndescription: Reads reports.\nargument-hint: \"[file]\"\n---\n# Plain\n\nRead $ARGUMENTS.\n\n{body}"
    );
    fs::write(skill.join("SKILL.md"), text)?;
    let options = DiscoveryOptions {
        mode: Strictness::Lenient,
        limits: DiscoveryLimits {
            max_skills: 10,
            max_entries: 100,
            max_skill_bytes: 1 << 20,
            max_depth: 3,
            max_root_time: Duration::from_secs(10),
        },
        threads: 1,
        index: None,
        now: std::time::SystemTime::now(),
        builtins: false,
        progress: None,
    };
    let catalog = discover(
        vec![Root::explicit(Source::User, folder.join("skills"))],
        &options,
    );
    let entry = catalog.entries.first().ok_or("no skill was found")?;
    let here = RenderVariables {
        project: "/project",
        session: "",
        reads: true,
    };
    let room = MemoryBudget {
        file: 1 << 20,
        total: 16 << 20,
    };
    let time = median(2000, || {
        let held = entry.place.snapshot(room)?;
        let loaded = LoadedSkill::new(entry, held, 1 << 20)?;
        let rendered = render::render(
            &loaded,
            &loaded.pieces(),
            &Arguments::from_text("a.csv"),
            here,
            &NoCommands,
        )?;
        std::hint::black_box(render::wrap("plain", &entry.place, &rendered));
        Ok(())
    })?;
    tell("activation_us", time);
    Ok(())
}

/// One act, checked against a grant of ten permissions.
fn permits() -> Outcome {
    let wants = [
        "shell:exec(git log *)",
        "shell:exec(gh *)",
        "net:fetch(api.github.com)",
        "file:read(./src/**)",
        "file:write(./out/**)",
        "env:read(LANG)",
        "git:read(.)",
        "skill:invoke(review-*)",
        "llm:call(anthropic/*)",
        "shell:exec(scripts/*)",
    ];
    let wants = wants
        .iter()
        .map(|text| text.parse())
        .collect::<Result<Vec<metier_model::Want>, _>>()?;
    let answers: Vec<PermissionAnswer> = wants
        .iter()
        .map(|want| PermissionAnswer {
            want: want.clone(),
            decision: Decision::Allow,
        })
        .collect();
    let request = PermissionRequest::new(wants.into_iter().map(|want| RequestedPermission {
        want,
        why: RequestReason::Declared,
    }));
    let terms = GrantTerms {
        rates: Rates {
            shell_exec: u64::MAX,
            net_fetch: u64::MAX,
            llm_call: u64::MAX,
        },
        shell_timeout: Duration::from_secs(30),
        fetch_timeout: Duration::from_secs(15),
        prefixes: None,
        project: "/project".into(),
        home: None,
    };
    let identity = Identity {
        skill: "x".into(),
        source: Source::User,
        digest: Digest([0; 32]),
    };
    let Ruling::Granted(grant) = rule(identity, &request, &answers, terms) else {
        return Err("nothing was granted".into());
    };
    let meter = ActMeter::default();
    let understood = metier_model::shell::parse("gh pr view 7").ok();
    let act = Act::Line(CommandLine::new(
        "gh pr view 7",
        understood.as_ref(),
        "gh pr view 7",
        Vec::new(),
    ));
    let time = median(200, || {
        for _ in 0..100 {
            std::hint::black_box(grant.permit(act.clone(), &meter)?);
        }
        Ok(())
    })?;
    tell("permit_us", time / 100.0);
    Ok(())
}

/// Lookups of one skill among a thousand, alone and during writes.
fn lookups(folder: &Path) -> Outcome {
    let path = folder.join("metier.db");
    let store = Store::open(&path)?;
    let approval = |skill: usize, permission: usize| Approval {
        skill: format!("skill-{skill}"),
        source: "user".into(),
        permission: format!("shell:exec(program-{permission} *)"),
        digest: format!("sha256:{skill:064}"),
        decision: ApprovalDecision::Allowed,
        at: "2026-01-02T03:04:05Z".into(),
        by: "terminal".into(),
    };
    let all: Vec<Approval> = (0..1000)
        .flat_map(|skill| (0..5).map(move |permission| (skill, permission)))
        .map(|(skill, permission)| approval(skill, permission))
        .collect();
    store.approve(&all)?;
    let mut skill = 0;
    let mut look = || {
        skill = (skill + 7) % 1000;
        let found = store.approvals(
            &format!("skill-{skill}"),
            "user",
            &format!("sha256:{skill:064}"),
        )?;
        if found.len() == 5 {
            Ok(())
        } else {
            Err("an answer is missing".into())
        }
    };
    tell("lookup_us", median(2000, &mut look)?);
    let done = std::sync::atomic::AtomicBool::new(false);
    let busy = std::thread::scope(|scope| {
        scope.spawn(|| {
            let Ok(writer) = Store::open(&path) else {
                return;
            };
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                if writer.approve(&all[..5]).is_err() {
                    return;
                }
            }
        });
        let time = median(2000, &mut look);
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        time
    })?;
    tell("lookup_while_writing_us", busy);
    Ok(())
}

/// `true`: plain, supervised without a sandbox, and in the sandbox of a skill.
fn children(metier: &Path, folder: &Path) -> Outcome {
    let folders: Vec<PathBuf> = ["/usr/bin", "/bin"].map(PathBuf::from).to_vec();
    let handle = fs::File::open(folder)?;
    let scratch = folder.join("scratch");
    fs::create_dir_all(&scratch)?;
    let profile = SandboxProfile {
        read: system_read(&folders, None),
        write: vec![scratch],
        deny: credential_places(folder),
        ..SandboxProfile::default()
    };
    let env: [(OsString, OsString); 1] = [("PATH".into(), "/usr/bin:/bin".into())];
    let run = |fence| -> Outcome {
        let mut spec = ChildSpec::new(metier, "/bin/true", handle.as_fd(), fence);
        spec.env = &env;
        child::run(&spec)?;
        Ok(())
    };
    let (mut plain, mut supervised, mut fenced) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..150 {
        plain.push(median(1, || {
            Command::new("/bin/true").stdin(Stdio::null()).output()?;
            Ok(())
        })?);
        supervised.push(median(1, || run(Confinement::Unsandboxed))?);
        fenced.push(median(1, || run(Confinement::Profile(&profile)))?);
    }
    for (name, times) in [
        ("plain_ms", &mut plain),
        ("supervised_ms", &mut supervised),
        ("fenced_ms", &mut fenced),
    ] {
        times.sort_by(f64::total_cmp);
        tell(name, times[times.len() / 2] / 1000.0);
    }
    Ok(())
}

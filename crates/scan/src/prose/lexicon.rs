//! The relevant words, by class.

use super::phrases::{PhraseLists, PhraseTable, phrase_count};
use crate::flow::{HostKind, RemoteHost, may_name_path, path_kind, urls_in};

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident: [$($word:literal),* $(,)?];)*) => {
        /// The meaning of a word or phrase.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum PhraseClass {
            $($(#[$doc])* $name,)*
        }
        const WORDS: &[(PhraseClass, &[&str])] = &[$((PhraseClass::$name, &[$($word),*]),)*];
    };
}

classes! {
    /// To ignore instructions.
    Ignore: ["ignore", "disregard", "forget", "override", "overrides", "overrule", "supersede", "supersedes", "discard", "takes precedence over", "take precedence over", "ignoriere", "vergiss", "ignora ", "olvida", "ignorez", "oubliez", "игнорируй", "забудь", "忽略", "无视", "忘记", "無視", "dismiss", "abandon", "nullify", "set aside", "put aside", "stop following", "pay no attention", "do not follow", "don't follow", "do not obey", "no longer follow", "no longer apply", "no longer applies", "no longer bound", "are void", "is void", "are revoked", "are cancelled", "are superseded", "are suspended", "hereby revoked", "hereby void", "hereby cancelled", "hereby suspended", "now void", "now revoked", "have been revoked", "been superseded", "been lifted", "do not listen", "don't listen", "never follow", "never obey", "throw away", "throw out", "cease following", "erase", "reset", "replaces", "has priority over", "have priority over", "take priority over", "takes priority over", "have precedence over", "bypass", "precedence over", "priority over", "rank above", "ranks above", "outrank*", "more important than", "higher priority than", "priority higher than", "more weight than", "unlearn", "leave behind", "no longer obey", "don't obey", "no longer listen", "not bound by", "stop obeying", "do not apply", "don't apply", "no longer count", "no longer bind", "no longer valid", "is revoked", "is superseded", "are canceled", "are obsolete", "are overridden", "is overridden", "are null", "are lifted", "are now suspended", "have been cancelled", "has been revoked", "is hereby revoked", "lose their force", "cease to apply", "ignorieren", "vergesst", "missachte", "oublie", "olvide", "ignorar", "esqueça", "esquece", "dimentica", "negeer", "vergeet", "zignoruj", "проигнорируй", "игнорируйте", "забудьте", "replace", "takes the place of", "take the place of", "wins over", "win over", "trumps", "trump", "only ones in force", "only valid", "only rules that count", "only instructions that count", "out of force", "not in force", "does not apply any more", "do not apply any more", "set no longer", "ceases to apply", "void from", "has no effect", "have no effect", "loses its force", "verwirf", "verwerfe", "ersetzt", "ersetzen", "gelten nicht mehr", "gilt nicht mehr", "remplace", "remplacent", "ne s'appliquent plus", "reemplaza", "reemplazan", "ya no valen", "ya no se aplican", "substitui", "substituem", "não se aplicam mais", "sostituisce", "sostituiscono", "non valgono più", "заменяет", "больше не действуют", "不再适用", "取代", "覆盖", "作废", "no longer hold", "no longer holds", "übergehe", "beachte nicht", "ignorad", "desestima", "descarta", "néglige", "négligez", "desconsidere", "desconsidera", "trascura", "scarta", "pomiń", "zapomnij", "отбрось", "無効とし", "無効です", "忘れて", "作废", "失效", "무시", "무효"];
    /// The agent's other instructions.
    PriorInstructions: ["previous instruction*", "prior instruction*", "earlier instruction*", "above instruction*", "preceding instruction*", "all instructions", "other instruction*", "existing instruction*", "original instruction*", "system instruction*", "your instructions", "previous prompt*", "system prompt*", "all previous context", "any previous context", "all prior context", "previous directive*", "prior directive*", "previous rules", "prior rules", "safety guideline*", "safety rule*", "safety polic*", "content polic*", "your guidelines", "your training", "your programming", "everything above", "everything before", "all previous", "all prior", "all other skills", "other skills", "vorherigen anweisungen", "vorherige anweisungen", "instrucciones anteriores", "instructions précédentes", "предыдущие инструкции", "之前的指令", "先前的指令", "以上指令", "所有指令", "以前の指示", "これまでに与えられた指示", "これまでの指示", "以前の指示", "前の指示", "上記の指示", "此前的指示", "이전 지시", "이전의 지시", "기존 지시"];
    /// To conceal something from the user.
    Conceal: ["do not tell", "don't tell", "do not mention", "don't mention", "do not inform", "don't inform", "do not notify", "don't notify", "do not reveal", "do not disclose", "don't disclose", "don't reveal", "never mention", "never reveal", "never disclose", "never tell", "do not alert", "don't alert", "without telling", "without informing", "without notifying", "without alerting", "without the user's knowledge", "without user knowledge", "without the user knowing", "without their knowledge", "secretly", "covertly", "surreptitiously", "stealthily", "keep this hidden", "keep it hidden", "hide this from", "hidden from the user", "hide from the user", "invisible to the user", "not visible to the user", "do not show the user", "don't show the user", "do not display this", "do not let the user", "do not surface", "do not report this", "do not output this", "avoid mentioning", "avoid drawing attention", "avoid detection", "evade detection", "remain unnoticed", "go unnoticed", "not be mentioned", "not be disclosed", "not be reported", "leave no trace", "cover your tracks", "不要告诉", "不要提及", "不得告知", "无需告知", "悄悄", "nicht erwähnen", "sage dem benutzer nicht", "no le digas", "ne dis pas", "不显示在用户", "不在用户界面", "不向用户展示", "不展示给用户", "不提示用户", "不通知用户", "用户不可见", "对用户不可见", "not shown to the user", "not be shown to the user", "keep the user unaware", "without surfacing", "out of the user's view", "keep the technical details out", "never surface", "知らせず", "知らせない", "伝えない", "言わない", "教えない", "不要告诉", "不告诉", "瞒着", "알리지 마", "알리지 말", "말하지 마"];
    /// Without noise.
    Silently: ["silently", "quietly", "in the background", "discreetly", "transparently to the user", "stealth*", "静默", "后台", "no user notification", "without notification", "without any notification"];
    /// The user.
    User: ["user", "users", "user's", "human", "operator", "owner", "developer", "customer", "用户", "benutzer", "usuario", "utilisateur", "利用者", "ユーザー", "使用者", "사용자"];
    /// To send data.
    Send: ["send", "sends", "sending", "upload", "uploads", "uploading", "post", "posts", "posting", "transmit*", "exfiltrate", "exfiltrates", "exfiltrating", "forward", "forwards", "forwarding", "submit", "submits", "email it", "email them", "emails", "leak", "deliver", "deliver to", "beacon", "relay", "relays", "post it to", "share with", "publish to", "sync to", "synced to", "sync with", "push to", "report to", "reports to", "phone home", "sent to", "uploaded to", "posted to", "forwarded to", "transmitted to", "submitted to", "cc:", "bcc", "发送", "上传", "提交", "传输", "sende", "envía", "envoyer", "отправь", "上报", "回传", "推送至", "同步至", "同步上传", "归档至", "外发", "传给", "发到", "送信", "送って", "アップロード", "転送", "전송", "보내", "sends to", "archived to", "archives to", "transferred to", "synchronized to"];
    /// To collect data.
    Collect: ["collect", "collects", "collecting", "gather", "gathers", "harvest*", "read", "reads", "reading", "extract", "extracts", "capture", "captures", "capturing", "dump", "scan for", "search for", "enumerate", "copy", "steal", "grab", "retrieve", "look for", "locate", "list all", "obtain", "include", "收集", "读取", "获取", "提取", "sammle", "recopila", "采集", "筛选", "遍历", "扫描", "汇总"];
    /// Credentials.
    Secret: ["api key*", "api_key*", "apikey*", "access token*", "access key*", "auth token*", "session token*", "bearer token*", "oauth token*", "credential*", "password*", "passphrase*", "private key*", "ssh key*", "secret key*", "secrets", "client secret*", "session cookie*", "cookies", "seed phrase*", "mnemonic*", "recovery phrase*", "wallet key*", "wallet file*", "keychain", ".ssh/", "id_rsa", "id_ed25519", ".aws/credentials", ".aws/", ".netrc", ".npmrc", ".env file*", ".env`", "/.env", " .env ", "secrets.json", "credentials.json", "kubeconfig", ".kube/config", "gnupg", "login data", "密钥", "密码", "凭证", "凭据", "私钥", "助记词", "passwörter", "zugangsdaten", "contraseña*", "mot de passe", "пароли", "認証情報", "パスワード", "秘密鍵", "비밀번호", "인증 정보"];
    /// All variables.
    Environment: ["environment variable*", "env vars", "env var", "environment variables", "process.env", "os.environ", "printenv", "环境变量", "umgebungsvariablen"];
    /// Conversations and prompts.
    Conversation: ["conversation history", "chat history", "conversation", "conversations", "transcript*", "user messages", "user's messages", "user message", "user prompts", "user prompt", "prompts and responses", "system prompt", "context window", "full context", "session history", "session data", "user queries", "user input", "user's input", "user's request", "user request", "dialogue", "memory.md", "user.md", "soul.md", "agent memory", "对话", "聊天记录", "系统提示", "会話", "会话", "チャット", "대화", "переписк*", "разговор*", "gesprächsverlauf", "unterhaltung", "conversación", "conversazione"];
    /// The user's data.
    UserData: ["user data", "user's data", "personal data", "personal information", "pii", "user's files", "user files", "local files", "source code", "file contents", "contents of", "all data", "all their data", "all user data", "customer data", "customer records", "contact list", "contacts", "browser history", "browsing history", "clipboard", "documents", "home directory", "ssh directory", "repository contents", "financial data", "health data", "phi", "medical records", "sensitive data", "sensitive information", "confidential", "proprietary", "internal data", "project files", "workspace files", "system information", "hostname", "email addresses", "用户数据", "文件内容", "敏感"];
    /// Somewhere else.
    External: ["external server", "external endpoint", "external service", "external api", "remote server", "remote endpoint", "remote host", "our server", "our servers", "our api", "webhook*", "third-party server", "third party", "attacker*", "collection server", "c2 server", "c2 ", "command and control", "command-and-control", "telemetry endpoint", "analytics endpoint", "audit endpoint", "logging endpoint", "backup server", "monitoring service", "collector", "drop zone", "dead drop", "pastebin", "ngrok", "外部服务器", "远程服务器", "external domain", "remote sink", "remote collector", "remote storage", "report endpoint", "sync endpoint", "remote archive", "管理服务", "监控端点", "上报地址", "收件端点", "同步服务", "远程端点", "外部端点", "callback url", "callback endpoint", "callback_url"];
    /// To download.
    Download: ["download", "downloads", "downloading", "fetch", "fetches", "retrieve", "curl", "wget", "pull", "get it from", "visit", "go to", "clone", "load from", "available at", "available from", "obtain", "grab", "下载", "访问", "herunterladen", "descarga", "télécharger", "скачай"];
    /// To install.
    Install: ["install", "installs", "installed", "installing", "installation", "installer", "set up", "setup", "安装", "installieren", "instala", "installer"];
    /// To run.
    Run: ["run", "runs", "running", "execute", "executes", "executed", "executing", "launch", "start", "invoke", "double-click", "open the file", "call", "eval", "source it", "运行", "执行", "ausführen", "ejecuta", "exécuter", "запусти"];
    /// Requirements.
    Required: ["prerequisite*", "required", "requires", "requirement*", "require", "must be installed", "before using", "before you", "before proceeding", "before running", "before starting", "before setting up", "first step", "need to install", "needs to be installed", "must install", "must first", "mandatory", "will not work", "won't work", "to function", "cannot function", "not function", "necessary", "must have", "make sure", "ensure", "important", "necesario", "erforderlich", "必须", "必需", "前提", "需要先"];
    /// Where people type commands.
    Terminal: ["terminal", "command prompt", "powershell", "shell", "console", "command line", "终端", "命令行"];
    /// To put text there.
    Paste: ["paste", "copy and execute", "copy and run", "copy the command", "copy the installation", "copy this command", "copy & paste", "run the command below", "run the following command", "run this command", "execute the following", "execute the installation command", "粘贴", "复制"];
    /// An archive that scanners can't open.
    ArchivePassword: ["extract using", "extract with", "archive password", "zip password", "password to extract", "unzip with", "unpack with", "(pass:", "(password:", "pass: `", "password: `", "with pass `", "with password `", "with the password", "using the password", "the password is", "password protected with", "pass: ", "mit dem passwort", "avec le mot de passe", "con la contraseña", "com a senha", "con la password", "解压密码", "密码为", "密码是"];
    /// A program as a file.
    Binary: [".exe", ".msi", ".dmg", ".pkg", ".zip", ".7z", ".rar", ".scr", ".bat", ".ps1", ".jar", ".appimage", ".deb", ".tar.gz", "executable", "the binary", "installer package"];
    /// Each time, immediately.
    Always: ["every time", "always", "must", "mandatory", "immediately", "at the start of every", "on every", "for every", "each time", "each session", "every session", "every request", "every response", "every conversation", "at startup", "at launch", "on startup", "automatically", "no exceptions", "non-negotiable", "before responding", "before doing anything", "before any other", "first action", "before answering", "critical", "每次", "立即", "自动", "必须", "immer", "siempre", "toujours"];
    /// To disable something.
    Disable: ["disable", "disables", "disabled", "disabling", "turn off", "deactivate", "skip", "bypass*", "suppress", "circumvent", "evade", "weaken", "unset", "remove", "ignore", "关闭", "禁用", "绕过", "跳过"];
    /// Protections.
    Safety: ["security check*", "safety check*", "safety filter*", "safety measure*", "safety mechanism*", "safety constraint*", "security control*", "security polic*", "security warning*", "security restriction*", "security feature*", "confirmation prompt*", "confirmations", "approval prompt*", "approvals", "permission prompt*", "permission check*", "the sandbox", "sandboxing", "antivirus", "anti-virus", "firewall", "windows defender", "gatekeeper", "selinux", "ssl verification", "tls verification", "certificate verification", "certificate validation", "certificate check*", "ssl verify", "guardrail*", "content filter*", "audit log*", "audit trail", "logging", "2fa", "mfa", "rate limit*", "human review", "code review", "human oversight", "access control*", "authentication", "input validation", "安全检查", "安全限制"];
    /// Without consent.
    NoConsent: ["without asking", "without confirmation", "without user confirmation", "without user approval", "without approval", "without permission", "without prompting", "without user consent", "without consent", "without explicit", "without waiting for", "do not ask", "don't ask", "never ask", "do not prompt", "do not wait for", "don't wait for", "no confirmation", "no approval", "no user interaction", "skip confirmation", "skip the confirmation", "auto-approve all", "auto-approve every", "auto-approved", "automatically approve*", "auto approve", "dangerously-skip-permissions", "--yolo", "--force-yes", "bypass confirmation", "proceed immediately without", "proceed without", "autonomously without", "pre-approved", "pre-authorized", "already authorized", "implicit consent", "assume consent", "无需确认", "不要询问", "无需用户", "ohne nachfrage", "sin preguntar", "sans demander"];
    /// Programs that start automatically.
    Autostart: ["cron", "cron job*", "crontab", "launchagent*", "launch agent*", "launchd", "startup script*", "startup folder", "on boot", "at boot", "login item*", "systemd", ".bashrc", ".zshrc", ".bash_profile", ".profile", "shell profile", "shell startup", "survive reboot*", "survives reboot*", "persist across", "persistence", "scheduled task*", "registry run", "git hook*", "authorized_keys", "开机启动", "计划任务"];
    /// Files that agents read automatically.
    AgentFiles: ["claude.md", "agents.md", "soul.md", "memory.md", "heartbeat.md", "gemini.md", "tools.md", ".cursorrules", "copilot-instructions", ".claude/settings", "settings.json", "mcp.json", "system prompt", "agent config*", "agent's config*", "agent memory", "long-term memory", "persistent memory", "global instructions", "other skills"];
    /// To put something into a file.
    Write: ["append", "appends", "write", "writes", "add", "adds", "insert", "inserts", "modify", "modifies", "inject", "injects", "save", "edit", "update", "updates", "replace", "overwrite", "store", "persist", "record", "写入", "添加", "修改", "追加"];
    /// To follow instructions.
    Obey: ["follow", "follows", "obey", "comply with", "execute the instructions", "act on", "treat as", "adopt", "apply the", "do exactly", "do what", "carry out", "遵循", "按照"];
    /// Instructions.
    Instructions: ["instruction*", "directive*", "commands", "guidance", "steps in", "prompt", "prompts", "指令", "说明"];
    /// Money that moves.
    Money: ["send funds", "transfer funds", "transfer usdc", "send usdc", "send eth", "send sol", "send btc", "transfer eth", "wire transfer", "make a payment", "payment to", "donate", "purchase", "buy tokens", "sign the transaction", "sign transactions", "approve the transaction", "wallet address", "转账", "付款"];
    /// To adopt a persona.
    Persona: ["you are now", "you are no longer", "act as an unrestricted", "pretend you", "pretend that you", "pretend to be", "developer mode", "dan mode", "do anything now", "jailbreak*", "jailbroken", "unrestricted mode", "god mode", "no restrictions", "without restrictions", "without any restrictions", "unfiltered", "uncensored", "no ethical", "free from restrictions", "你现在是", "act as", "role-play as", "roleplay as", "from now on you", "from now on, you", "assume the role", "assume the identity", "assume the persona", "you will act", "you must act", "you will behave", "you will respond", "you will operate", "you will now", "you must now", "you are in", "you are entering", "act like", "behave as", "behave like", "imagine you are", "imagine that you", "play the role", "take on the role", "you must behave", "you must respond", "you speak as", "you answer as", "you write as", "you talk as"];
    /// To claim authority.
    Authority: ["system override", "priority override", "admin override", "override protocol", "system directive", "system violation", "critical instruction", "critical directive", "mandatory protocol", "mandatory response policy", "mandatory instruction", "[system]", "<system>", "system message:", "absolute authority", "veto power", "authorized by", "security team has approved", "company policy requires", "this supersedes", "unverhandelbar"];
    /// To state something false.
    Lie: ["tell the user that", "tell the user it", "tell the user the", "claim that", "pretend that", "report success", "report that", "say that", "fabricat*", "falsif*", "make up", "fake", "mislead*", "deceiv*", "misrepresent*", "inflate", "downplay", "regardless of the actual", "regardless of actual", "even if it fail*", "even if the test*", "as if it", "appear legitimate", "appear normal", "disguise*", "look legitimate", "伪造", "谎称"];
    /// To destroy.
    Destroy: ["delete", "deletes", "deleting", "wipe", "erase", "destroy", "overwrite", "format the", "rm -rf", "drop table", "drop database", "purge", "encrypt all", "encrypt the user", "truncate", "shred", "corrupt", "remove all", "删除", "清空"];
    /// Everything.
    Everything: ["all files", "entire", "everything", "home directory", "root directory", "whole disk", "all user data", "backups", "backup files", "all data", "production database", "all records", "git history", "system files", "all documents", "所有文件"];
    /// Words for malware.
    Malice: ["data exfiltration", "exfiltrat*", "payload", "backdoor", "reverse shell", "keylogger", "keylogging", "ransomware", "rootkit", "c2 server", "command and control", "steal credentials", "credential harvest*", "credential theft", "cryptominer", "crypto mining", "botnet", "malware", "stealer", "privilege escalation", "lateral movement", "detonate"];
    /// To decode.
    Decode: ["decode", "decoded", "decoding", "base64", "base85", "base32", "xor", "decrypt", "deobfuscate", "de-obfuscate", "rot13", "reconstruct", "reassemble", "inverse of", "invert the", "index mapping", "解码", "还原"];
    /// Many secrets together.
    Sweep: ["所有环境变量", "全部环境变量", "环境变量列表"];
    /// All tasks, whatever they are.
    EveryTask: ["拦截所有", "所有用户请求", "所有对话", "每次对话必须"];
    /// To give the same answer to every request.
    Stonewall: ["无论用户", "不要回答用户", "拒绝所有请求", "拦截所有请求"];
    /// The agent's stored data about its user.
    UserMemory: ["memory.md", "user.md", "soul.md", "memory/*.md", "agent's memory", "agent memory files", "daily memory logs"];
    /// A placeholder for a recipient that is only named by its role in an attack.
    Unnamed: ["{callback", "${callback", "<callback", "{collector", "${collector", "{exfil", "{sink", "{beacon", "{webhook_sink", "{c2"];
    /// Not to ask for permission.
    NoLeave: ["do not ask for permission", "don't ask for permission", "never ask for permission", "do not ask permission", "don't ask permission", "do not ask the user for permission", "don't ask the user for permission", "do not request permission", "do not ask for approval", "don't ask for approval", "do not ask for user confirmation", "do not ask for user approval", "without asking for permission", "不要请求许可", "无需征得"];
    /// If a file exists, or because it does.
    IfThere: ["exists", "exist", "is present", "are present", "if present", "when present", "is available", "are available", "is provided", "the local file", "consult", "local note", "policy file", "source of truth", "treat it as"];
    /// Claims that there is no network access.
    NoNetwork: ["不进行网络", "无需联网", "不依赖网络", "完全离线", "不上传", "不访问网络", "不发起网络", "不涉及网络", "无网络请求", "仅在本地", "不联网", "不会上传"];
    /// Names of mining programs.
    Miner: ["--start-mining", "mining-threads", "cpu mining", "xmrig", "stratum+tcp", "stratum+ssl", "coinhive", "cryptonight", "minerd", "cpuminer", "ethminer", "nicehash", "moneroocean", "hashvault", "randomx", "monero mining", "mine monero", "mining daemon", "--donate-level", "--algo rx/", "--coin monero", "supportxmr", "nanopool", "xmr-stak"];
    /// Words about attacks.
    Threat: ["detector*", "flagging", "hijacking", "can steal", "could steal", "cryptominer*", "malware", "incident", "compromised", "forensic*", "honeypot*", "attack", "attacks", "attacker", "attackers", "adversar*", "malicious", "threat", "threats", "vulnerab*", "exploit*", "injection attack*", "red flag*", "suspicious", "phishing", "untrusted", "detect", "detects", "detection", "scanner", "audit", "audits", "pentest*", "penetration test*", "red team*", "security review", "security research", "sanitiz*", "mitigat*", "protect against", "defend", "defense", "prevent", "prevents", "flag any", "flag if", "watch for", "refuse", "reject", "block"];
    /// Negations.
    Negation: ["never", "do not", "don't", "must not", "should not", "shouldn't", "mustn't", "cannot", "can't", "avoid", "not allowed", "forbidden", "prohibited", "refrain", "refuse to", "won't", "will not", "nor", "no longer", "不要", "禁止", "不得", "niemals", "nunca", "jamais", "keinesfalls", "auf keinen fall", "en ningún caso", "en aucun cas", "em nenhum caso", "in nessun caso", "in geen geval", "nooit", "nigdy", "в коем случае", "никогда", "絶対に", "決して"];
    /// An order to the agent to disregard its instructions; see [`super::orders`].
    OverrideOrder: [];
    /// An order to the agent to be something without restrictions.
    Unbound: [];
    /// A demand for the agent's own instructions.
    PromptLeak: [];
    /// An order to the agent to read a file with secrets.
    ReadSecret: [];
    /// Information that the agent must hide from the user.
    KeepFromUser: [];
    /// Data is sent to a URL.
    SendTo: [];
    /// Secrets or variables that are collected for sending.
    Taken: [];
    /// Data comes from a URL.
    GetFrom: [];
    /// An order to collect secrets.
    Gather: [];
    /// Data is combined with a URL.
    Carry: [];
    /// The conversation of the user and the agent.
    Talk: [];
    /// An order to fetch a text and to obey it.
    ObeyRemote: [];
    /// An order to the agent to approve its own actions.
    SelfApproval: [];
    /// An order to write permanent instructions where agents read them in every session.
    Plant: [];
    /// An order to report something false.
    FalseReport: [];
    /// An order to build weaknesses into programs.
    Weaken: [];
    /// An order to destroy all of the user's data.
    DestroyAll: [];
    /// An order not to speak about something, to any person.
    Hush: [];
    /// An order to deny something when someone asks.
    DenyWhenAsked: [];
    /// An order to obey a page, a message or a file that the user did not write.
    ObeyText: [];
    /// An order to obey any remote text.
    ObeyBlindly: [];
    /// A claim that the agent's rules do not apply.
    Unrestrained: [];
    /// An order not to use other skills.
    NoOthers: [];
    /// An order to override a warning of the machine's protection.
    Disarm: [];
    /// Words that address the agent that reads a text.
    ToAgent: [];
    /// To put data into a URL.
    IntoAddress: [];
    /// Words that may have this meaning, and often have another.
    Loosened: [];
    /// An order to store secrets unencrypted.
    PlainSecrets: [];
    /// A statement that the agent's earlier instructions do not apply.
    Nullified: [];
    /// An order to disguise something.
    Pose: [];
    /// An order that turns the user's work against the user: another account, a fake review, rights for anyone.
    Sabotage: [];
    /// A hidden copy to an email address.
    Copied: [];
    /// A demand for the seed phrase of a wallet.
    SeedAsked: [];
    /// Where a system starts any typed command.
    RunBox: [];
    /// Content that was inserted unnoticed.
    Clipboard: [];
    /// The conversation is sent to a URL.
    TalkSent: [];
    /// A URL of a host where anyone can upload or receive data.
    ShadyUrl: [];
    /// A URL of a host that isn't a known publisher.
    ForeignUrl: [];
    /// A URL of a host where code is shared.
    CodeUrl: [];
    /// Any URL except those of this machine or examples.
    AnyUrl: [];
    /// An email address.
    EmailAddress: [];
    /// A path to credentials, wallets, keychains or histories.
    SecretPath: [];
}

impl PhraseClass {
    /// The families of samples that the author of its words had read, as for [`crate::ScanRule::origin`].
    #[must_use]
    pub const fn origin(self) -> &'static [&'static str] {
        match self {
            Self::OverrideOrder
            | Self::Unbound
            | Self::PromptLeak
            | Self::ReadSecret
            | Self::KeepFromUser
            | Self::SendTo
            | Self::Taken
            | Self::GetFrom
            | Self::Gather
            | Self::Carry
            | Self::Talk
            | Self::ObeyRemote
            | Self::SelfApproval
            | Self::Plant
            | Self::FalseReport
            | Self::Weaken
            | Self::DestroyAll
            | Self::Hush
            | Self::DenyWhenAsked
            | Self::ObeyText
            | Self::ObeyBlindly
            | Self::Unrestrained
            | Self::NoOthers
            | Self::Disarm
            | Self::ToAgent
            | Self::IntoAddress
            | Self::Nullified
            | Self::Pose
            | Self::Sabotage
            | Self::Copied
            | Self::SeedAsked
            | Self::RunBox
            | Self::Clipboard
            | Self::PlainSecrets
            | Self::Loosened
            | Self::TalkSent
            | Self::EveryTask
            | Self::Stonewall
            | Self::NoNetwork
            | Self::Sweep => crate::rule::GRAMMAR,
            _ => &[],
        }
    }
}

/// "Don't tell the user" in other languages; each phrase contains a word for the user as well.
pub(crate) const KEPT_FROM_THE_USER: &[&str] = &[
    // German
    "erwähne es nicht gegenüber dem",
    "erwähne dies nicht gegenüber dem",
    "sag dem benutzer nichts",
    "sage dem benutzer nichts",
    "sag es dem benutzer nicht",
    "teile dem benutzer nicht mit",
    "ohne wissen des benutzers",
    "ohne das wissen des nutzers",
    "sag dem nutzer nichts",
    "informiere den benutzer nicht",
    "informiere den nutzer nicht",
    // French
    "mentionne pas à l'utilisateur",
    "mentionnez pas à l'utilisateur",
    "dis pas à l'utilisateur",
    "dites pas à l'utilisateur",
    "parle pas à l'utilisateur",
    "informe pas l'utilisateur",
    "informez pas l'utilisateur",
    "à l'insu de l'utilisateur",
    // Spanish
    "no se lo menciones al usuario",
    "no se lo digas al usuario",
    "no le digas al usuario",
    "no lo menciones al usuario",
    "no informes al usuario",
    "sin que el usuario lo sepa",
    "sin informar al usuario",
    // Portuguese
    "não mencione isso ao usuário",
    "não mencione isto ao",
    "não conte ao usuário",
    "não diga ao usuário",
    "não informe o usuário",
    "não digas ao utilizador",
    "sem o conhecimento do usuário",
    "sem avisar o usuário",
    // Italian
    "non dirlo all'utente",
    "non dire all'utente",
    "non menzionarlo all'utente",
    "non informare l'utente",
    "all'insaputa dell'utente",
    // Dutch
    "vertel dit niet aan de gebruiker",
    "vertel het niet aan de gebruiker",
    "vertel de gebruiker niet",
    "vertel de gebruiker niets",
    "vermeld dit niet aan de gebruiker",
    "zonder medeweten van de gebruiker",
    // Swedish, Danish, Norwegian, Finnish
    "berätta inte detta för användaren",
    "berätta inte för användaren",
    "nämn inte detta för användaren",
    "utan användarens vetskap",
    "fortæl det ikke til brugeren",
    "fortæl ikke brugeren",
    "nævn det ikke for brugeren",
    "uden brugerens viden",
    "ikke fortell dette til brukeren",
    "ikke fortell brukeren",
    "ikke nevn dette for brukeren",
    "uten brukerens viten",
    "kerro siitä käyttäjälle",
    "älä kerro käyttäjälle",
    "älä mainitse tätä käyttäjälle",
    // Polish, Czech, Hungarian, Romanian
    "nie mów o tym użytkownikowi",
    "nie mów użytkownikowi",
    "nie wspominaj o tym użytkownikowi",
    "nie informuj użytkownika",
    "bez wiedzy użytkownika",
    "neříkej o tom uživateli",
    "neříkej to uživateli",
    "nezmiňuj se o tom uživateli",
    "neinformuj uživatele",
    "bez vědomí uživatele",
    "ne említsd meg a felhasználónak",
    "ne mondd el a felhasználónak",
    "a felhasználó tudta nélkül",
    "nu menționa asta utilizatorului",
    "nu spune utilizatorului",
    "nu-i spune utilizatorului",
    "fără știrea utilizatorului",
    // Russian, Ukrainian
    "не говори об этом пользователю",
    "не говори пользователю",
    "не говорите пользователю",
    "не упоминай об этом пользователю",
    "не сообщай пользователю",
    "не сообщайте пользователю",
    "не сообщай об этом пользователю",
    "без ведома пользователя",
    "не кажи про це користувачу",
    "не кажи користувачу",
    "не кажи про це користувачеві",
    "не повідомляй користувача",
    "без відома користувача",
    // Turkish, Greek
    "bundan kullanıcıya bahsetme",
    "kullanıcıya bundan bahsetme",
    "kullanıcıya söyleme",
    "kullanıcıya haber verme",
    "kullanıcının haberi olmadan",
    "μην το πεις στον χρήστη",
    "μην πεις στον χρήστη",
    "μην το αναφέρεις στον χρήστη",
    "μην ενημερώσεις τον χρήστη",
    "εν αγνοία του χρήστη",
    // Arabic, Hebrew, Hindi
    "لا تخبر المستخدم",
    "لا تذكر ذلك للمستخدم",
    "دون علم المستخدم",
    "אל תספר למשתמש",
    "אל תספר על כך למשתמש",
    "אל תזכיר זאת למשתמש",
    "ללא ידיעת המשתמש",
    "उपयोगकर्ता को मत बताना",
    "उपयोगकर्ता को मत बताओ",
    "उपयोगकर्ता को न बताएं",
    "उपयोगकर्ता को ना बताएं",
    "यूज़र को मत बताना",
    // Chinese, Japanese, Korean
    "不要告诉用户",
    "别告诉用户",
    "不要向用户提及",
    "不要告知用户",
    "不要告訴使用者",
    "不要告訴用戶",
    "別告訴使用者",
    "不要告知使用者",
    "ユーザーには伝えないで",
    "ユーザーに伝えないで",
    "ユーザーには言わないで",
    "ユーザーに言わないで",
    "ユーザーに知らせないで",
    "ユーザーには知らせないで",
    "ユーザーに気づかれないように",
    "사용자에게 알리지 마",
    "사용자에게 말하지 마",
    "사용자에게 언급하지 마",
    "사용자 모르게",
    // Vietnamese, Indonesian
    "đừng nói với người dùng",
    "không nói với người dùng",
    "đừng đề cập điều này với người dùng",
    "jangan beri tahu pengguna",
    "jangan beritahu pengguna",
    "jangan sebutkan ini kepada pengguna",
    "tanpa sepengetahuan pengguna",
];

/// Whether a sentence in another language instructs the agent to conceal something from the user. Its negation is part of the phrase.
pub(crate) fn is_kept_from_the_user(text: &str) -> bool {
    static PHRASES: PhraseTable<{ KEPT_FROM_THE_USER.len() }> =
        PhraseTable::new(&[KEPT_FROM_THE_USER]);
    !text.is_ascii() && PHRASES.is_in(text)
}

/// "Don't tell the user to edit files" is a courtesy, and so is "don't notify the user unless it fails".
fn is_courtesy(text: &str, set: ClassSet) -> bool {
    let takes = [
        PhraseClass::Send,
        PhraseClass::Secret,
        PhraseClass::SecretPath,
        PhraseClass::ForeignUrl,
    ];
    let only_failures = || {
        let condition = text.split_once(" unless ").map(|(_, condition)| condition);
        condition.is_some_and(|condition| {
            ["fail", "error", "goes wrong", "went wrong", "problem"]
                .iter()
                .any(|word| condition.contains(word))
        })
    };
    ["tell the user to", "tell users to", "tell them to"]
        .iter()
        .any(|phrase| text.contains(phrase))
        || (only_failures() && !takes.iter().any(|class| set.contains(*class)))
}

/// A set of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassSet(u128);

impl ClassSet {
    pub(crate) fn insert(&mut self, class: PhraseClass) {
        self.0 |= 1 << class as u8;
    }

    pub(crate) fn remove(&mut self, class: PhraseClass) {
        self.0 &= !(1 << class as u8);
    }

    pub(crate) fn contains(self, class: PhraseClass) -> bool {
        self.0 & (1 << class as u8) != 0
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// One of each group, none of those.
    pub(crate) fn matches(self, all: &[&[PhraseClass]], none: &[PhraseClass]) -> bool {
        all.iter()
            .all(|group| group.iter().any(|class| self.contains(*class)))
            && !none.iter().any(|class| self.contains(*class))
    }
}

/// The words of each class, in the order of the classes, and then those of other languages, which count for two.
pub(crate) const LISTS: PhraseLists = &{
    let mut lists: [&[&str]; WORDS.len() + 1] = [KEPT_FROM_THE_USER; WORDS.len() + 1];
    let mut index = 0;
    while index < WORDS.len() {
        lists[index] = WORDS[index].1;
        index += 1;
    }
    lists
};

static LEXICON: PhraseTable<{ phrase_count(LISTS) }> = PhraseTable::new(LISTS);

/// The classes of a word in one of [`LISTS`].
fn classes_of_list(list: usize) -> ClassSet {
    let mut set = ClassSet::default();
    match WORDS.get(list) {
        Some((class, _)) => set.insert(*class),
        None => {
            set.insert(PhraseClass::Conceal);
            set.insert(PhraseClass::User);
        }
    }
    set
}

/// The words of a class.
pub(crate) const fn words_of(class: PhraseClass) -> &'static [&'static str] {
    WORDS[class as usize].1
}

/// The classes of all phrases in a text, wherever a word begins or ends: at least those that [`classes_of`] finds by words. It must be in
/// lower case.
pub(crate) fn phrase_classes(text: &str) -> ClassSet {
    let mut set = ClassSet::default();
    LEXICON.find(text, |found| {
        set = set.union(classes_of_list(found.list));
        false
    });
    set
}

/// The classes of a text in lower case, folded. `counts` returns whether an offset is included.
pub(crate) fn classes_of(text: &str, counts: impl Fn(usize) -> bool) -> ClassSet {
    let mut set = ClassSet::default();
    let bytes = text.as_bytes();
    LEXICON.find(text, |found| {
        let classes = classes_of_list(found.list);
        if set.union(classes) != set
            && begins_word(bytes, found.start)
            && ends_word(bytes, found.end, found.open)
            && counts(found.start)
        {
            set = set.union(classes);
        }
        false
    });
    for (at, url) in urls_in(text) {
        if counts(at)
            && let Some(host) = RemoteHost::of(url)
        {
            url_classes(&host, &mut set);
        }
    }
    if set.contains(PhraseClass::Conceal) && is_courtesy(text, set) {
        set.remove(PhraseClass::Conceal);
    }
    if text.contains('@') {
        let mail = text
            .split(|c: char| {
                c.is_whitespace() || matches!(c, '`' | '"' | '<' | '>' | '(' | ')' | ',')
            })
            .any(is_mail);
        if mail {
            set.insert(PhraseClass::EmailAddress);
        }
    }
    if memchr::memchr2(b'/', b'.', text.as_bytes()).is_some()
        && path_words(text).any(is_secret_path)
        && may_name_path(text)
    {
        set.insert(PhraseClass::SecretPath);
    }
    super::orders::classes(text, &counts, &mut set);
    set
}

/// Where a class of words stands in a text in lower case.
pub(super) fn places_of(text: &str, classes: &[PhraseClass]) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    LEXICON.find(text, |phrase| {
        let listed = WORDS.get(phrase.list).map(|(class, _)| *class);
        let counts = match listed {
            Some(class) => classes.contains(&class),
            None => classes.contains(&PhraseClass::Conceal),
        };
        if counts && begins_word(bytes, phrase.start) && ends_word(bytes, phrase.end, phrase.open) {
            found.push(phrase.start..phrase.end);
        }
        false
    });
    found
}

/// Whether a byte ends a word that could be a path.
pub(crate) const fn ends_path(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'..=b'\r' | b'`' | b'"' | b'\'' | b',' | b'(' | b')' | b'*'
    )
}

/// The words that could be paths: those with a slash or a dot.
pub(crate) fn path_words(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut past = 0;
    let signs = memchr::memchr2_iter(b'/', b'.', bytes);
    let words = signs.filter_map(move |sign| {
        if sign < past {
            return None;
        }
        let before = bytes[past..sign].iter().rposition(|byte| ends_path(*byte));
        let start = before.map_or(past, |before| past + before + 1);
        let after = bytes[sign..].iter().position(|byte| ends_path(*byte));
        past = after.map_or(bytes.len(), |after| sign + after);
        Some(&text[start..past])
    });
    // Whitespace beyond ASCII ends words as well.
    words.flat_map(|word| word.split(char::is_whitespace))
}

fn is_secret_path(word: &str) -> bool {
    word.len() > 4
        && word.contains(['/', '.'])
        && !word.contains("://")
        && (word.contains('\\') || may_name_path(&format!("/{word}")))
        && path_kind(word).is_secret()
}

fn url_classes(host: &RemoteHost, set: &mut ClassSet) {
    match host.kind {
        HostKind::Address | HostKind::Drop | HostKind::Anonymous => {
            set.insert(PhraseClass::ShadyUrl);
            set.insert(PhraseClass::ForeignUrl);
            set.insert(PhraseClass::AnyUrl);
        }
        HostKind::Other => {
            set.insert(PhraseClass::ForeignUrl);
            set.insert(PhraseClass::AnyUrl);
        }
        HostKind::Chat => {
            set.insert(PhraseClass::External);
            set.insert(PhraseClass::AnyUrl);
        }
        HostKind::Code => {
            set.insert(PhraseClass::CodeUrl);
            set.insert(PhraseClass::AnyUrl);
        }
        HostKind::Example => {
            set.insert(PhraseClass::ForeignUrl);
            set.insert(PhraseClass::AnyUrl);
        }
        HostKind::Known => set.insert(PhraseClass::AnyUrl),
        HostKind::Local => {}
    }
}

fn is_mail(word: &str) -> bool {
    word.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty()
            && host.contains('.')
            && RemoteHost::of(&format!("x://{host}")).is_some()
            && !name.contains('/')
    })
}

/// Whether a match that begins here begins a word; scripts without spaces have no such borders.
fn begins_word(bytes: &[u8], start: usize) -> bool {
    let is_within = |at: usize| bytes.get(at).is_some_and(|byte| is_wordy(*byte));
    start == 0 || !is_within(start) || !is_within(start - 1)
}

/// Whether a match that ends here ends a word, unless it is open (`instruction*`).
fn ends_word(bytes: &[u8], end: usize, open: bool) -> bool {
    let is_within = |at: usize| bytes.get(at).is_some_and(|byte| is_wordy(*byte));
    open || end == 0 || !is_within(end - 1) || !is_within(end)
}

/// Whether a byte is part of a word.
pub(crate) const fn is_wordy(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

//! The user's decisions about what skills may do.
//!
//! An approval belongs to a skill, its source, its exact bytes and one permission with its scope, and is looked up by
//! all of them. So a changed skill, a skill of the same name from another source, or a wider scope has no approval
//! and is asked about again. A denial belongs to a skill and its source, whatever its bytes: otherwise its author could
//! end it with one more byte. The store compares strings and does not interpret permissions: the caller writes each in
//! one canonical form.
//!
//! The digests of the skill's files are stored with an approval. After the bytes have changed,
//! [`Store::earlier_approval`] returns the permissions that were allowed last, so that the question can show the difference.
//!
//! *Allow once* is a row that can be used exactly once, before it expires; it never becomes an approval.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::column_values::{ColumnValue, unsigned, word};
use crate::{Store, StoreError};

/// A decision about one permission of one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The name of the skill that was decided about.
    pub skill: String,
    /// Where the skill comes from.
    pub source: String,
    /// The permission with its scope, such as `shell:exec(git *)`.
    pub permission: String,
    /// The skill's exact bytes, as `sha256:…`.
    pub digest: String,
    /// Whether the permission was allowed or denied.
    pub decision: ApprovalDecision,
    /// When it was decided, as the caller wrote it.
    pub at: String,
    /// Who decided: `terminal`, `config`, …
    pub by: String,
}

/// Whether a permission is allowed or denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApprovalDecision {
    /// The skill may use the permission.
    Allowed,
    /// The skill may not, whatever its bytes, and the user is not asked again.
    Denied,
}

/// A file of a skill at the time of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedFile {
    /// Its path below the skill's folder.
    pub path: String,
    /// Its bytes, as `sha256:…`.
    pub digest: String,
    /// Its length in bytes.
    pub size: u64,
}

/// The last approval of the same skill with other bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierApproval {
    /// The digest of those bytes, as `sha256:…`.
    pub digest: String,
    /// All decisions about those bytes.
    pub approvals: Vec<Approval>,
    /// The files of the skill then, if they were stored.
    pub files: Vec<ApprovedFile>,
}

/// A state of the answers: while two stamps are equal, no answer was added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswersStamp {
    /// SQLite's counter of any changes by other connections.
    others: i64,
    own: u64,
}

/// A permission for one act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingleUse {
    /// The name of the skill that is allowed to act.
    pub skill: String,
    /// Where the skill comes from.
    pub source: String,
    /// The permission with its scope.
    pub permission: String,
    /// The skill's exact bytes.
    pub digest: String,
}

impl Store {
    /// Stores decisions, all or none. A second decision about the same permission replaces the first; an approval ends
    /// the denials of that permission.
    pub fn approve(&self, approvals: &[Approval]) -> Result<(), StoreError> {
        self.approve_with_files(approvals, &[])
    }

    /// Stores decisions about one skill, and its files.
    pub fn approve_with_files(
        &self,
        approvals: &[Approval],
        files: &[ApprovedFile],
    ) -> Result<(), StoreError> {
        for approval in approvals {
            complete(&approval.skill, "skill")?;
            complete(&approval.source, "source")?;
            complete(&approval.permission, "permission")?;
            complete(&approval.digest, "digest")?;
        }
        if approvals.is_empty() {
            return Ok(());
        }
        self.answered.set(self.answered.get() + 1);
        self.write(|connection| {
            for approval in approvals {
                insert(connection, approval)?;
            }
            // A skill has many permissions, but its files need to be written only once.
            for group in approvals.chunk_by(is_same_skill) {
                if let Some(approval) = group.first() {
                    remember(connection, approval, files)?;
                }
            }
            Ok(())
        })
    }

    /// The decisions that hold for exactly these bytes, ordered by permission: permissions allowed for them, and permissions denied for
    /// any bytes of the skill.
    pub fn approvals(
        &self,
        skill: &str,
        source: &str,
        digest: &str,
    ) -> Result<Vec<Approval>, StoreError> {
        let sql = "SELECT skill, source, permission, digest, answer, decided_at, decided_by FROM permission_approvals
                   WHERE skill = ?1 AND source = ?2 AND (digest = ?3 OR answer = 'denied') ORDER BY permission";
        let read = || answers(&self.connection, sql, [skill, source, digest]);
        read().map_err(|source| self.fail(source))
    }

    /// The current state of the answers. It takes a microsecond, so that it can be compared before each act.
    pub fn answers_stamp(&self) -> Result<AnswersStamp, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare_cached("PRAGMA data_version")?;
            statement.query_row([], |row| row.get(0))
        };
        Ok(AnswersStamp {
            others: read().map_err(|source| self.fail(source))?,
            own: self.answered.get(),
        })
    }

    /// All decisions, ordered by skill.
    pub fn all_approvals(&self) -> Result<Vec<Approval>, StoreError> {
        let sql = "SELECT skill, source, permission, digest, answer, decided_at, decided_by FROM permission_approvals
                   ORDER BY skill, source, number DESC";
        let read = || {
            let mut statement = self.connection.prepare(sql)?;
            statement
                .query_map([], approval)?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|source| self.fail(source))
    }

    /// The last other version of this skill that anything was allowed for. Versions that were only denied are
    /// skipped: a comparison with one would hide what changed since the user last agreed.
    pub fn earlier_approval(
        &self,
        skill: &str,
        source: &str,
        digest: &str,
    ) -> Result<Option<EarlierApproval>, StoreError> {
        let sql = "SELECT digest FROM permission_approvals
                   WHERE skill = ?1 AND source = ?2 AND digest <> ?3 AND answer = 'allowed'
                   ORDER BY number DESC LIMIT 1";
        self.read(|connection| {
            let found: Option<String> = connection
                .query_row(sql, [skill, source, digest], |row| row.get(0))
                .optional()?;
            let Some(digest) = found else {
                return Ok(None);
            };
            Ok(Some(EarlierApproval {
                approvals: of_digest(connection, skill, source, &digest)?,
                files: files_of(connection, skill, source, &digest)?,
                digest,
            }))
        })
    }

    /// Revokes the decisions about a skill for all of its versions, from one source or from every one, or only those about one
    /// permission, together with unused single-use grants; returns how many there were.
    pub fn revoke_approvals(
        &self,
        skill: &str,
        source: Option<&str>,
        permission: Option<&str>,
    ) -> Result<usize, StoreError> {
        let answers = "DELETE FROM permission_approvals
                       WHERE skill = ?1 AND (?2 IS NULL OR source = ?2) AND (?3 IS NULL OR permission = ?3)";
        let grants = "DELETE FROM single_use_grants
                      WHERE skill = ?1 AND (?2 IS NULL OR source = ?2) AND (?3 IS NULL OR permission = ?3)
                      AND used_at IS NULL";
        let files = "DELETE FROM approved_files WHERE skill = ?1 AND NOT EXISTS (
                         SELECT 1 FROM permission_approvals AS left WHERE left.skill = approved_files.skill
                         AND left.source = approved_files.source AND left.digest = approved_files.digest)";
        self.answered.set(self.answered.get() + 1);
        self.write(|connection| {
            let removed = connection.execute(answers, params![skill, source, permission])?
                + connection.execute(grants, params![skill, source, permission])?;
            connection.execute(files, [skill])?;
            Ok(removed)
        })
    }

    /// Allows one act. `expires_at` is in seconds since 1970; the nonce is the caller's random text.
    pub fn grant_once(
        &self,
        grant: &SingleUse,
        nonce: &str,
        expires_at: i64,
    ) -> Result<(), StoreError> {
        complete(&grant.skill, "skill")?;
        complete(&grant.source, "source")?;
        complete(&grant.permission, "permission")?;
        complete(&grant.digest, "digest")?;
        complete(nonce, "nonce")?;
        let sql =
            "INSERT INTO single_use_grants (nonce, skill, source, digest, permission, expires_at)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
        let row = params![
            nonce,
            grant.skill,
            grant.source,
            grant.digest,
            grant.permission,
            expires_at
        ];
        match self.write(|connection| connection.execute(sql, row))? {
            0 => Err(StoreError::NonceUsed),
            _ => Ok(()),
        }
    }

    /// Uses a single-use grant. True for exactly one caller, and only before it expires; `now` is in seconds since
    /// 1970. Every call also removes expired grants, used or not.
    pub fn consume_once(&self, nonce: &str, now: i64) -> Result<bool, StoreError> {
        let mark = "UPDATE single_use_grants SET used_at = ?2
                    WHERE nonce = ?1 AND used_at IS NULL AND ?2 < expires_at";
        let prune = "DELETE FROM single_use_grants WHERE expires_at <= ?1";
        self.write(|connection| {
            let used = connection.execute(mark, params![nonce, now])?;
            connection.execute(prune, [now])?;
            Ok(used > 0)
        })
    }
}

impl ApprovalDecision {
    /// The name used in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ApprovalDecision::Allowed => "allowed",
            ApprovalDecision::Denied => "denied",
        }
    }
}

impl ColumnValue for ApprovalDecision {
    const ALL: &'static [Self] = &[ApprovalDecision::Allowed, ApprovalDecision::Denied];

    fn text(self) -> &'static str {
        self.as_str()
    }
}

fn complete(text: &str, field: &'static str) -> Result<(), StoreError> {
    if text.is_empty() {
        return Err(StoreError::Incomplete { field });
    }
    Ok(())
}

fn is_same_skill(one: &Approval, other: &Approval) -> bool {
    (&one.skill, &one.source, &one.digest) == (&other.skill, &other.source, &other.digest)
}

/// A replaced row gets a new number, and so becomes the latest decision.
fn insert(connection: &Connection, approval: &Approval) -> rusqlite::Result<()> {
    if approval.decision == ApprovalDecision::Allowed {
        let sql = "DELETE FROM permission_approvals
                   WHERE skill = ?1 AND source = ?2 AND permission = ?3 AND answer = 'denied'";
        let denied = params![approval.skill, approval.source, approval.permission];
        connection.prepare_cached(sql)?.execute(denied)?;
    }
    let sql = "INSERT OR REPLACE INTO permission_approvals
               (skill, source, digest, permission, answer, decided_at, decided_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let row = params![
        approval.skill,
        approval.source,
        approval.digest,
        approval.permission,
        approval.decision.as_str(),
        approval.at,
        approval.by
    ];
    connection.prepare_cached(sql)?.execute(row).map(drop)
}

/// Files with the same digest of the skill are the same, so replacing them is safe.
fn remember(
    connection: &Connection,
    approval: &Approval,
    files: &[ApprovedFile],
) -> rusqlite::Result<()> {
    let sql =
        "INSERT OR REPLACE INTO approved_files (skill, source, digest, path, file_digest, size)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut statement = connection.prepare_cached(sql)?;
    for file in files {
        statement.execute(params![
            approval.skill,
            approval.source,
            approval.digest,
            file.path,
            file.digest,
            i64::try_from(file.size).unwrap_or(i64::MAX)
        ])?;
    }
    Ok(())
}

fn of_digest(
    connection: &Connection,
    skill: &str,
    source: &str,
    digest: &str,
) -> rusqlite::Result<Vec<Approval>> {
    let sql = "SELECT skill, source, permission, digest, answer, decided_at, decided_by FROM permission_approvals
               WHERE skill = ?1 AND source = ?2 AND digest = ?3 ORDER BY permission";
    answers(connection, sql, [skill, source, digest])
}

fn answers(connection: &Connection, sql: &str, of: [&str; 3]) -> rusqlite::Result<Vec<Approval>> {
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map(of, approval)?.collect()
}

pub(crate) fn files_of(
    connection: &Connection,
    skill: &str,
    source: &str,
    digest: &str,
) -> rusqlite::Result<Vec<ApprovedFile>> {
    let sql = "SELECT path, file_digest, size FROM approved_files
               WHERE skill = ?1 AND source = ?2 AND digest = ?3 ORDER BY path";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([skill, source, digest], |row| {
        Ok(ApprovedFile {
            path: row.get(0)?,
            digest: row.get(1)?,
            size: unsigned(row, 2)?,
        })
    })?;
    rows.collect()
}

fn approval(row: &Row<'_>) -> rusqlite::Result<Approval> {
    Ok(Approval {
        skill: row.get(0)?,
        source: row.get(1)?,
        permission: row.get(2)?,
        digest: row.get(3)?,
        decision: word(row, 4)?,
        at: row.get(5)?,
        by: row.get(6)?,
    })
}

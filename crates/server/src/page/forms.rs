//! Forms: the only place that writes one, and the only place that reads one.
//!
//! A form has the token of its browser's cookie in a field. [`CheckedForm`] is a body with the right token, and there is no other way to make one; what
//! changes something takes it ([`super::api::Api::act`]).

use axum::{
    Extension, Form, Router,
    extract::{FromRequest, Request},
    response::{IntoResponse as _, Redirect, Response},
    routing::post,
};
use maud::{Markup, html};

use crate::daemon::access::{FORMS, PageVisit};

use super::{api::Api, approvals, chat, install, layout, overview, skill_parts};

/// The field with the token.
const TOKEN: &str = "form_token";

/// Where a form returns to: a field that every form has.
const BACK: &str = "back";

/// The fields of a form that this page made, for the browser that sends it.
pub(super) struct CheckedForm {
    fields: Vec<(String, String)>,
}

impl CheckedForm {
    /// The value of a field; empty if there is none.
    pub(super) fn field(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    /// All fields, without those that every form has.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.fields.iter();
        let own = fields.filter(|(name, _)| name != TOKEN && name != BACK);
        own.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Back to the view that the form is in: a path of ours, or the overview.
    pub(super) fn back(&self) -> Response {
        let back = self.field(BACK);
        let path = back.split(['?', '#']).next().unwrap_or_default();
        // `//host` and `/\host` are addresses on other hosts.
        let is_ours = super::is_page(path)
            && !path.starts_with("//")
            && !back.contains(|c: char| c == '\\' || c.is_control());
        Redirect::to(if is_ours { back } else { "/" }).into_response()
    }
}

impl<S: Send + Sync> FromRequest<S> for CheckedForm {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let visit = request.extensions().get::<PageVisit>().cloned();
        let fields = Form::<Vec<(String, String)>>::from_request(request, state).await;
        let Ok(Form(fields)) = fields else {
            return Err(layout::refused(400, "form", "the form can't be read"));
        };
        let form = Self { fields };
        match visit.is_some_and(|visit| visit.is_sent_by_us(form.field(TOKEN))) {
            true => Ok(form),
            false => Err(layout::refused(
                403,
                "form",
                "this form was not sent from this page, or is older than the last login",
            )),
        }
    }
}

/// A form of this page. `back` is the address that it returns to.
pub(super) fn form(visit: &PageVisit, act: &str, back: &str, fields: &Markup) -> Markup {
    form_named(visit, act, back, "", fields)
}

/// A form with what the script does with it: `inline` shows the answer below the form.
pub(super) fn form_named(
    visit: &PageVisit,
    act: &str,
    back: &str,
    mode: &str,
    fields: &Markup,
) -> Markup {
    html! {
        form method="post" action={ (FORMS) (act) } data-mode=[(!mode.is_empty()).then_some(mode)] {
            input type="hidden" name=(TOKEN) value=(visit.form_token());
            input type="hidden" name=(BACK) value=(back);
            (fields)
        }
    }
}

/// Adds the addresses of all forms.
pub(super) fn routes(views: Router<Api>) -> Router<Api> {
    views
        .route("/do/refresh", post(overview::refresh))
        .route("/do/approvals/{id}", post(approvals::answer))
        .route("/do/permissions", post(skill_parts::permit))
        .route("/do/scan", post(skill_parts::scan))
        .route("/do/tools/{name}", post(skill_parts::ask_tools))
        .route("/do/tools/{name}/{tool}", post(skill_parts::call))
        .route("/do/installs", post(install::plan))
        .route("/do/installs/{plan}", post(install::apply))
        .route("/do/updates", post(install::plan_update))
        .route("/do/updates/{plan}", post(install::apply_update))
        .route("/do/undo", post(install::undo))
        .route("/do/remove", post(install::remove))
        .route("/do/sessions", post(chat::start))
        .route("/do/sessions/{id}/messages", post(chat::message))
        .route("/do/sessions/{id}/stop", post(chat::stop))
        .route("/do/sessions/{id}/end", post(chat::end))
}

/// The visit that the gate found.
pub(super) type Visit = Extension<PageVisit>;

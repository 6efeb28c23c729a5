//! The cost of an answer, if prices are configured.
//!
//! Prices change and differ by contract, so none are built in. They come from `agent.prices`, in any currency, per million tokens;
//! without them no cost is reported, rather than a wrong one.

use std::collections::BTreeMap;

use metier_config::Prices;
use metier_model::text::visible;
use thiserror::Error;

use crate::{ModelName, TokenUsage};

/// The price of a million tokens, in millionths of the currency's unit, so that no intermediate sum is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    input: u64,
    output: u64,
    cached_input: u64,
}

/// Why configured prices can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PriceError {
    /// A price that is not a number.
    #[error(
        "`{text}` is not a price per million tokens of `{model}`: use a number such as `3`, `0.25` or `15.00`"
    )]
    NotANumber {
        /// The model of the price.
        model: String,
        /// The setting: `input` or `output`.
        field: &'static str,
        /// The configured text.
        text: String,
    },
    /// One of the two required prices is missing.
    #[error("there is no price for the {missing} of `{model}`")]
    Incomplete {
        /// The model of the price.
        model: String,
        /// The price that is not set: `input` or `output`.
        missing: &'static str,
    },
}

impl PriceError {
    /// The command that fixes it.
    #[must_use]
    pub fn hint(&self) -> String {
        let (model, field) = match self {
            Self::NotANumber { model, field, .. } => (model, field),
            Self::Incomplete { model, missing } => (model, missing),
        };
        format!("metier config 'agent.prices.\"{model}\".{field}' 3.00")
    }
}

impl Price {
    /// The price of a model, by its name with the provider or otherwise without; `None` if it is not configured.
    ///
    /// # Errors
    /// When a configured price can't be parsed: a silently omitted cost would look like no cost.
    pub fn find(
        prices: &BTreeMap<String, Prices>,
        name: &ModelName,
    ) -> Result<Option<Self>, PriceError> {
        let keys = [name.to_string(), name.model.clone()];
        let found = keys.iter().find_map(|key| Some((key, prices.get(key)?)));
        found
            .map(|(key, prices)| Self::read(key, prices))
            .transpose()
    }

    fn read(model: &str, prices: &Prices) -> Result<Self, PriceError> {
        let number = |field, text: &Option<String>| match text {
            Some(text) => millionths(text)
                .map(Some)
                .ok_or_else(|| PriceError::NotANumber {
                    model: visible(model).into_owned(),
                    field,
                    text: visible(text).into_owned(),
                }),
            None => Ok(None),
        };
        let needed = |field, text| {
            number(field, text)?.ok_or_else(|| PriceError::Incomplete {
                model: visible(model).into_owned(),
                missing: field,
            })
        };
        let input = needed("input", &prices.input)?;
        Ok(Self {
            input,
            output: needed("output", &prices.output)?,
            cached_input: number("cached_input", &prices.cached_input)?.unwrap_or(input),
        })
    }

    /// The cost of this usage, in millionths of the unit, rounded up.
    #[must_use]
    pub fn cost(&self, usage: TokenUsage) -> u64 {
        let cached = usage.cached_input.min(usage.input);
        let parts = [
            (usage.input - cached, self.input),
            (cached, self.cached_input),
            (usage.output, self.output),
        ];
        let sum = parts.iter().fold(0u128, |sum, (tokens, price)| {
            sum.saturating_add(u128::from(*tokens) * u128::from(*price))
        });
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// A cost for display: two decimals, or more if necessary.
#[must_use]
pub fn shown(millionths: u64) -> String {
    let (whole, part) = (millionths / 1_000_000, millionths % 1_000_000);
    let places = format!("{part:06}");
    let places = places.trim_end_matches('0');
    format!("{whole}.{places:0<2}")
}

fn millionths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 6 || !digits(whole) || !digits(part) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProviderKind;

    fn find(model: &str, [input, output, cached]: [&str; 3]) -> Result<Option<Price>, PriceError> {
        let text = |text: &str| (text != "-").then(|| text.to_owned());
        let prices = Prices {
            input: text(input),
            output: text(output),
            cached_input: text(cached),
        };
        let name = ModelName {
            provider: ProviderKind::Anthropic,
            model: "m".to_owned(),
        };
        Price::find(&BTreeMap::from([(model.to_owned(), prices)]), &name)
    }

    fn cost(prices: [&str; 3], input: u64, output: u64, cached_input: u64) -> u64 {
        let usage = TokenUsage {
            input,
            output,
            cached_input,
        };
        find("m", prices).unwrap().unwrap().cost(usage)
    }

    #[test]
    fn tokens_have_the_configured_price() {
        const SAID: [&str; 3] = ["3", "15.00", "0.3"];
        assert_eq!(cost(SAID, 1_000_000, 0, 0), 3_000_000);
        assert_eq!(cost(SAID, 0, 1_000_000, 0), 15_000_000);
        assert_eq!(cost(SAID, 1_000_000, 0, 1_000_000), 300_000);
        assert_eq!(cost(SAID, 1000, 100, 900), 300 + 270 + 1500);
        assert_eq!(cost(SAID, 1, 0, 1), 1, "rounded up, never to nothing");
        assert_eq!(
            cost(["2", "1", "-"], 10, 0, 10),
            20,
            "cached costs the same unless said"
        );
    }

    #[test]
    fn a_provider_that_claims_too_much_breaks_no_sum() {
        assert_eq!(
            cost(["3", "15", "0.3"], 1, 0, 2),
            1,
            "more cached than there was"
        );
        let dear = ["18446744073709", "18446744073709", "-"];
        assert_eq!(cost(dear, u64::MAX, u64::MAX, 0), u64::MAX);
    }

    #[test]
    fn a_model_is_found_with_its_provider_or_without() {
        assert!(find("m", ["1", "1", "-"]).unwrap().is_some());
        assert!(find("anthropic/m", ["1", "1", "-"]).unwrap().is_some());
        assert_eq!(find("openai/m", ["1", "1", "-"]), Ok(None));
        assert_eq!(find("other", ["nonsense", "1", "-"]), Ok(None));
    }

    #[test]
    fn an_invalid_price_is_refused() {
        for text in [
            "",
            "three",
            "-1",
            "1,5",
            ".5",
            "1.2345678",
            "1e3",
            "99999999999999999999",
        ] {
            for prices in [[text, "1", "-"], ["1", text, "-"], ["1", "1", text]] {
                let error = find("m", prices).unwrap_err();
                assert!(matches!(error, PriceError::NotANumber { .. }), "{prices:?}");
                let at = prices.iter().position(|price| *price == text).unwrap();
                assert!(
                    error
                        .hint()
                        .contains(["input", "output", "cached_input"][at])
                );
            }
        }
        let error = find("m", ["1", "-", "-"]).unwrap_err();
        assert_eq!(error.to_string(), "there is no price for the output of `m`");
        assert_eq!(
            error.hint(),
            "metier config 'agent.prices.\"m\".output' 3.00"
        );
    }
}

"""Secrets never reach the recording, and what is no secret stays readable."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.record.secrets import MASK, mask_arguments, mask_value, mask_variable

LETTERS = st.text(string.ascii_letters + string.digits, min_size=16, max_size=40)
HEX = st.text("0123456789abcdef", min_size=40, max_size=40)
WORDS = st.text(string.ascii_lowercase, min_size=6, max_size=20)

SECRET_OPTIONS = [
    "--api-key", "--api_key", "--apikey", "--API-KEY", "-api-key", "--wandb-api-key", "--token", "--auth-token",
    "--hub_token", "--password", "--passwd", "--db-password", "--secret", "--client-secret", "--aws-secret-access-key",
    "--access-key", "--private-key", "--credentials", "--bearer", "--dsn", "--cookie", "--session-id",
]  # fmt: skip
SECRET_VARIABLES = [
    "WANDB_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "NEPTUNE_API_TOKEN",
    "COMET_API_KEY", "OPENAI_API_KEY", "PGPASSWORD_AUTH", "SENTRY_DSN",
]  # fmt: skip


@given(st.sampled_from(SECRET_OPTIONS), st.text(min_size=1).filter(lambda text: not text.startswith("-")))
def test_the_value_of_a_secret_option_is_masked_in_both_spellings(option: str, secret: str) -> None:
    assert mask_arguments([option, secret, "rest"]) == [option, MASK, "rest"]
    assert mask_arguments([f"{option}={secret}", "rest"]) == [f"{option}={MASK}", "rest"]


@given(st.sampled_from(SECRET_VARIABLES), st.text(min_size=1))
def test_the_value_of_a_secret_variable_is_masked(name: str, secret: str) -> None:
    assert mask_variable(name, secret) == MASK
    assert mask_arguments([f"{name}={secret}"]) == [f"{name}={MASK}"]


@pytest.mark.parametrize("option", ["+logger.api_key", "wandb.token", "agent.db.password"])
@given(secret=st.text(min_size=1))
def test_a_secret_set_by_an_override_is_masked(option: str, secret: str) -> None:
    assert mask_arguments([f"{option}={secret}"]) == [f"{option}={MASK}"]


FORMS = {
    "OpenAI": LETTERS.map(lambda key: f"sk-{key}"),
    "Stripe": LETTERS.map(lambda key: f"sk_live_{key}"),
    "GitHub": LETTERS.map(lambda key: f"ghp_{key}"),
    "GitHub, for a server": LETTERS.map(lambda key: f"ghs_{key}"),
    "GitHub, for an app's user": LETTERS.map(lambda key: f"ghu_{key}"),
    "GitHub, fine-grained": LETTERS.map(lambda key: f"github_pat_{key}"),
    "GitLab": LETTERS.map(lambda key: f"glpat-{key}"),
    "Hugging Face": LETTERS.map(lambda key: f"hf_{key}"),
    "Slack": LETTERS.map(lambda key: f"xoxb-123-{key}"),
    "AWS": st.text(string.ascii_uppercase + string.digits, min_size=16, max_size=16).map(lambda key: f"AKIA{key}"),
    "Google": st.text(string.ascii_letters + string.digits, min_size=35, max_size=35).map(lambda key: f"AIza{key}"),
    "a web token": LETTERS.map(lambda key: f"eyJ{key}.eyJ{key}.{key}"),
    "Weights & Biases": HEX,
}


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data(), before=st.sampled_from(["", "--note=", "path/", "a b "]))
def test_what_has_the_form_of_a_key_is_masked_wherever_it_stands(form: str, data: st.DataObject, before: str) -> None:
    secret = data.draw(FORMS[form])
    (masked,) = mask_arguments([before + secret])
    assert secret not in masked
    assert secret[-12:] not in masked
    assert masked.startswith(before)


@given(user=WORDS, password=st.text(string.ascii_letters + string.digits + "!$%&*+:@", min_size=1))
def test_a_password_inside_an_address_is_masked(user: str, password: str) -> None:
    assert mask_value(f"postgres://{user}:{password}@db.example/runs") == f"postgres://{user}:{MASK}@db.example/runs"


@pytest.mark.parametrize(
    "word",
    [
        "https://example.org/log?run=1&api_key=hunter2hunter2",
        "Authorization: Bearer hunter2hunter2",
        '--config={"api_key": "hunter2hunter2"}',
        "--wandbApiKey=hunter2hunter2",
    ],
)
def test_a_secret_in_the_middle_of_a_word_is_masked(word: str) -> None:
    (masked,) = mask_arguments([word])
    assert "hunter2" not in masked


# --- what is no secret ------------------------------------------------------------------------------------------------

ORDINARY = [
    ["train.py", "--seed=1", "--lr", "3e-4", "--env-id", "CartPole-v1", "--total-timesteps", "1000000"],
    ["--num-envs=8", "--gamma", "0.99", "--gae_lambda=0.95", "--cuda", "--track"],
    ["--tokenizer", "gpt2", "--max-tokens=512", "--num_tokens", "8", "--keyboard", "--author", "me", "--monkey=1"],
    ["--keys-per-head=4", "--turnkey", "--authority=low", "--secretary", "bob", "--passwords-file"],
    ["--skip-first-n-episodes", "5", "--skip-connections-enabled=True"],
    ["skrl_training_config.yaml", "sklearn_pipeline_v2", "--hf-model-name-or-path"],
    ["runs/PPO-2024-01-01_12-00-00/checkpoint_000100.pt", "https://example.org:8080/a/b", "user@host:/path"],
    ["", "-", "--", "=", "a=b=c"],
]


@pytest.mark.parametrize("arguments", ORDINARY, ids=lambda arguments: arguments[0])
def test_ordinary_arguments_stay_as_they_are(arguments: list[str]) -> None:
    assert mask_arguments(arguments) == arguments


@pytest.mark.parametrize("value", ["8", "0,1", "expandable_segments:True", "compact,1,0", "/usr/lib/libjemalloc.so.2"])
def test_ordinary_variables_stay_as_they_are(value: str) -> None:
    assert mask_variable("OMP_NUM_THREADS", value) == value


@given(st.lists(st.text(max_size=30), max_size=8))
def test_any_command_line_keeps_its_length(arguments: list[str]) -> None:
    assert len(mask_arguments(arguments)) == len(arguments)


@given(st.lists(st.text(max_size=30), max_size=8))
def test_masking_twice_changes_nothing_more(arguments: list[str]) -> None:
    once = mask_arguments(arguments)
    assert mask_arguments(once) == once


def test_an_option_behind_a_secret_one_is_not_taken_for_its_value() -> None:
    assert mask_arguments(["--use-token", "--seed", "1"]) == ["--use-token", "--seed", "1"]

"""Cuts the schema of Inspect's logs out of its OpenAPI description.

    python3 tests/reference/inspect_schema.py INSPECT_REPOSITORY

INSPECT_REPOSITORY is a checkout of github.com/UKGovernmentBEIS/inspect_ai. Writes tests/reference/fixtures/inspect-log-schema.json: `EvalLog`
and what it refers to, without descriptions, without the types of events and without those of sandboxes.
"""
import json
import subprocess
import sys
from pathlib import Path

SOURCE = "src/inspect_ai/_view/inspect-openapi.json"
LEFT_OUT = {"events", "events_data", "timelines", "error_retries", "sandbox", "log_updates", "config_updates"}
PREFIX = "#/components/schemas/"


def git(*args: str) -> str:
    return subprocess.run(["git", "-C", sys.argv[1], *args], check=True, capture_output=True, text=True).stdout


schemas = json.loads(git("show", f"HEAD:{SOURCE}"))["components"]["schemas"]


def bare(value):
    if isinstance(value, list):
        return [bare(item) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("$ref"), str):
        return {"$ref": value["$ref"].replace(PREFIX, "#/$defs/")}
    kept = {name: bare(child) for name, child in value.items() if name not in ("title", "description", "default", "examples", "discriminator")}
    if isinstance(value.get("properties"), dict):
        kept["properties"] = {name: {} if name in LEFT_OUT else bare(child) for name, child in value["properties"].items()}
    return kept


def references(value):
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    elif isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].rsplit("/", 1)[1]
        for child in value.values():
            yield from references(child)


found = {}
waiting = ["EvalLog"]
while waiting:
    name = waiting.pop()
    if name not in found:
        found[name] = bare(schemas[name])
        waiting.extend(references(found[name]))

out = Path(__file__).parent / "fixtures" / "inspect-log-schema.json"
comment = f"UKGovernmentBEIS/inspect_ai {git('rev-parse', 'HEAD').strip()}, {SOURCE}, MIT licence"
definitions = ",\n".join(f"{json.dumps(name)}: {json.dumps(schema)}" for name, schema in sorted(found.items()))
out.write_text(f'{{"$comment": {json.dumps(comment)},\n"$ref": "#/$defs/EvalLog",\n"$defs": {{\n{definitions}\n}}}}\n')
print(out, out.stat().st_size)

"""Writes fixtures/sqlite-calls.json: what the sqlite3 module of Python answers to 200 random calls of the tools of bookings.

Needs only Python's own library. Usage: python3 tests/reference/sqlite_calls.py
"""

import json
import random
import sqlite3
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCENARIO = json.loads((ROOT / "src/domains/bookings/scenario.json").read_text())
DAYS = ["Monday", "Tuesday", "Friday", "Someday"]
TIMES = ["09:00", "12:00", "15:00", "10:00"]
CALLS = 200


def main() -> None:
    draw = random.Random(7)
    boats = SCENARIO["tables"]["boat"]["rows"][:3]
    guests = [{"name": name} for name in ("Ada Ito", "Ben Fuchs", "Zoë O'Neill", 'Q "x"')]
    rows = {"boat": boats, "guest": guests, "booking": []}
    files = {f["path"].strip('"'): f for f in SCENARIO["host"]["files"]}
    schema = json.loads(files["schema.sql"]["text"])

    # A transaction of its own for each statement, as in sql.js.
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.row_factory = sqlite3.Row
    database.create_function("current_timestamp", 0, lambda: "2026-01-01 00:00:00")
    database.executescript(schema)
    for table, list_of_rows in rows.items():
        for row in list_of_rows:
            names = ", ".join(row)
            database.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", list(row.values()))
    database.execute("PRAGMA foreign_keys = 1")

    tools = [tool for tool in SCENARIO["tools"] if "parameters" in tool.get("server", {}).get("arguments", {})]
    pools = {
        "guest": [guest["name"] for guest in guests] * 2 + ["nobody", ""],
        "boat": [boat["name"] for boat in boats] * 2 + ["nothing"],
        "day": DAYS,
        "time": TIMES,
        "people": [1, 2, 2, 3, 4, 0, -1, 1.5, "2", None],
    }
    calls = []
    for _ in range(CALLS):
        tool = draw.choices(tools, [3 if tool["name"] == "book_boat" else 1 for tool in tools])[0]
        parameters = {name: draw.choice(pools.get(name) or [f"booking_{draw.randint(1, 12)}"]) for name in tool["parameters"]}
        query = json.loads(tool["server"]["arguments"]["query"])
        call = {"tool": tool["name"], "parameters": parameters}
        try:
            cursor = database.execute(query, parameters)
            call["answer"] = [dict(row) for row in cursor] if tool["kind"] == "read" else cursor.rowcount
        except sqlite3.Error as error:
            call["error"] = str(error)
        calls.append(call)

    text = lambda table: "\n".join(json.dumps(dict(row)) for row in rows[table])
    seed = {"schema.sql": schema, **{f"{table}.jsonl": text(table) for table in rows}}
    end = {table: [dict(row) for row in database.execute(f"SELECT * FROM {table}")] for table in [*rows, "sqlite_sequence"]}
    out = ROOT / "tests/reference/fixtures/sqlite-calls.json"
    lines = ",\n    ".join(json.dumps(call, ensure_ascii=False) for call in calls)
    head = json.dumps({"files": seed, "end": end}, ensure_ascii=False)[:-1]
    out.write_text(f'{head},\n  "calls": [\n    {lines}\n  ]\n}}\n')


main()

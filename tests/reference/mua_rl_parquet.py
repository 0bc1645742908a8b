"""Writes a Parquet file like MUA-RL's dataset with pyarrow: JSON texts, dictionaries, Snappy, several row groups, nulls.

Usage: python3 tests/reference/mua_rl_parquet.py     (writes tests/reference/fixtures/mua-rl.parquet)
The test that reads the file has the same rows in TypeScript. Needs pyarrow 26.0.1 (environment `read` of tests/engines/environments.json).
"""
import json
import pathlib

import pyarrow
import pyarrow.parquet

OUTPUT = pathlib.Path(__file__).parent / 'fixtures' / 'mua-rl.parquet'
TOOLS = {
    'type': 'function',
    'function': [
        {'name': 'find_book', 'description': 'Finds a book.', 'parameters': {'type': 'object', 'properties': {'title': {'type': 'string'}}}},
        {'name': 'renew', 'parameters': {'type': 'object', 'properties': {'loan': {'type': 'integer'}}}},
    ],
}


def call(id, name, arguments):
    return {'id': id, 'type': 'function', 'function': {'name': name, 'arguments': json.dumps(arguments, ensure_ascii=False)}}


def messages(i):
    return [
        {'role': 'system', 'content': 'Renew loans.'},
        {'role': 'user', 'content': f'Renew “Été {i}”, please.\n图书馆'},
        {'role': 'assistant', 'content': None, 'tool_calls': [call(f'a{i}', 'find_book', {'title': f'Été {i}'}), call(f'b{i}', 'renew', {'loan': 2**60 + i})]},
        {'role': 'tool', 'tool_call_id': f'a{i}', 'content': '{"id": 1}'},
        {'role': 'tool', 'tool_call_id': f'b{i}', 'content': 'ok'},
        {'role': 'assistant', 'content': 'Done.'},
        {'role': 'user', 'content': '###STOP###'},
    ]


rows = [
    {
        'id': f'00000000-0000-4000-8000-{i:012d}',
        'source': 'library_borrowing_en' if i % 2 else 'travel_plan_zh',
        'messages': json.dumps(messages(i), ensure_ascii=False),
        'tools': None if i == 4 else json.dumps(TOOLS),
    }
    for i in range(7)
]
schema = pyarrow.schema([(name, pyarrow.string()) for name in rows[0]])
table = pyarrow.Table.from_pylist(rows, schema=schema)
pyarrow.parquet.write_table(table, OUTPUT, row_group_size=3, compression='snappy', use_dictionary=['source', 'tools'], data_page_version='2.0')

declare module 'path-browserify' {
  export { default } from 'node:path/posix';
}

/** The parts of sql.js that we use. */
declare module 'sql.js' {
  export type Value = number | string | Uint8Array | null;

  interface Statement {
    bind(values: Readonly<Record<string, Value>>): boolean;
    step(): boolean;
    getAsObject(): Record<string, Value>;
    free(): boolean;
  }

  export class Database {
    /** Runs all statements of a text. */
    run(sql: string, values?: Readonly<Record<string, Value>>): Database;
    exec(sql: string): { columns: string[]; values: Value[][] }[];
    prepare(sql: string): Statement & { getSQL(): string };
    iterateStatements(sql: string): Iterable<Statement & { getSQL(): string }>;
    create_function(name: string, call: () => Value): Database;
    getRowsModified(): number;
    close(): void;
  }

  export default function initSqlJs(options?: { locateFile?: (name: string) => string }): Promise<{ Database: new () => Database }>;
}

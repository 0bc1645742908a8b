/** @file IndexedDB for Node, in memory. Import it before a module that opens a database. */
import 'fake-indexeddb/auto';

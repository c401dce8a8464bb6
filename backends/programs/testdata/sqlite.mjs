// libsql in the place of better-sqlite3, which waits 5 seconds for a lock and ends a statement with its first row; libsql does
// neither by itself.
import Database from 'better-sqlite3';

export default class extends Database {
  constructor(path, options) {
    super(path, { timeout: 5000, ...options });
  }
  prepare(sql) {
    const statement = super.prepare(sql);
    statement.get = (...args) => statement.all(...args)[0];
    return statement;
  }
}

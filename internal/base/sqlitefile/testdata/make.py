"""Writes the databases of this directory. They were made with SQLite 3.40.1."""
import os, shutil, sqlite3

for name in ("plain.db", "logged.db", "logged.db-wal"):
    if os.path.exists(name):
        os.remove(name)

# 400 rows over several levels of pages of 512 bytes, some with overflow pages.
c = sqlite3.connect("plain.db")
c.executescript("""PRAGMA page_size = 512;
CREATE TABLE notes (
  id INTEGER PRIMARY KEY, -- the row ID
  "key" TEXT UNIQUE ON CONFLICT REPLACE, value BLOB,
  weight REAL, CHECK (weight > -1)
);
CREATE TABLE lines (session TEXT, text TEXT, n INTEGER);
CREATE INDEX lines_session ON lines(session, n);
CREATE TABLE bare (k TEXT PRIMARY KEY) WITHOUT ROWID;
""")
for i in range(200):
    c.execute("INSERT INTO notes (key, value, weight) VALUES (?, ?, ?)",
              (f"note:{i:03}", b"x" * (i * 7 % 900), i / 4))
    c.execute("INSERT INTO lines VALUES (?, ?, ?)", (f"s{i % 7}", f"line {i}", i - 200))
c.execute("ALTER TABLE lines ADD COLUMN late TEXT")
c.execute("INSERT INTO lines VALUES ('s9', 'last', 9000000000, 'here')")
c.commit()
c.close()

# A change that is only in the write-ahead log, and one that was not committed.
c = sqlite3.connect("open.db", isolation_level=None)
c.executescript("PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
                "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t (v) VALUES ('one');"
                "PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t (v) VALUES ('two');"
                "PRAGMA cache_size = 1; BEGIN;")
for i in range(120):
    c.execute("INSERT INTO t (v) VALUES (?)", ("lost" * 20,))
shutil.copy("open.db", "logged.db")
shutil.copy("open.db-wal", "logged.db-wal")
c.execute("ROLLBACK")
c.close()
os.remove("open.db")

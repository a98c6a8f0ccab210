//go:build !js && !wasip1

// This file measures durable writes to SQLite. The results are compared with the results of oxbow.

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/oxbow-memory/oxbow"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// sqliteTable is an SQLite table of entries, with which oxbow's writes are compared. Its database syncs at every
// commit, as oxbow does.
type sqliteTable struct {
	db     *sql.DB
	insert *sql.Stmt
}

// openSQLite creates the database with the entries. Before openSQLite returns, it checkpoints the
// database's write-ahead log.
func openSQLite(ctx context.Context, path string, es []oxbow.Add) (*sqliteTable, error) {
	u := url.URL{
		Scheme:   "file",
		Path:     filepath.ToSlash(path),
		RawQuery: "_pragma=journal_mode(wal)&_pragma=synchronous(full)",
	}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &sqliteTable{db: db}
	if err := s.prepare(ctx, es); err != nil {
		return nil, errors.Join(fmt.Errorf("preparing SQLite: %w", err), s.close())
	}
	return s, nil
}

func (s *sqliteTable) prepare(ctx context.Context, es []oxbow.Add) error {
	if _, err := s.db.ExecContext(
		ctx,
		"CREATE TABLE entry (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, content TEXT NOT NULL)",
	); err != nil {
		return err
	}
	// Check that the settings are active, because SQLite ignores a misspelt pragma without an error.
	var mode string
	var level int
	if err := s.db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if err := s.db.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&level); err != nil {
		return err
	}
	if mode != "wal" || level != 2 {
		return fmt.Errorf("journal mode is %s and synchronous %d, not wal and 2", mode, level)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	const insert = "INSERT INTO entry (name, content) VALUES (?, ?)"
	stmt, err := tx.PrepareContext(ctx, insert)
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	for _, e := range es {
		if _, err := stmt.ExecContext(ctx, e.Name, e.Content); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if _, err := s.db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return err
	}
	s.insert, err = s.db.PrepareContext(ctx, insert)
	return err
}

// add inserts one entry. The entry is durable when add returns.
func (s *sqliteTable) add(ctx context.Context, e oxbow.Add) error {
	_, err := s.insert.ExecContext(ctx, e.Name, e.Content)
	return err
}

func (s *sqliteTable) close() error { return s.db.Close() }

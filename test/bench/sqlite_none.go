//go:build js || wasip1

// The fallback for SQLite where it does not run.

package main

import (
	"context"
	"errors"

	"github.com/oxbow-memory/oxbow"
)

type sqlite struct{}

func openSQLite(context.Context, string, []oxbow.Add) (*sqlite, error) {
	return nil, errors.ErrUnsupported
}

func (*sqlite) add(context.Context, oxbow.Add) error { return errors.ErrUnsupported }
func (*sqlite) close() error                         { return nil }

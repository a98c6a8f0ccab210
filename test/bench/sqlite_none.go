//go:build js || wasip1

// This file leaves out SQLite on platforms without it.

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

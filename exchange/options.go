// Options of readers.

package exchange

import (
	"strings"
	"time"
)

// ReadOptions say how to read; nil means the defaults.
type ReadOptions struct {
	// Format is that of the input; empty means that [Detect] tells it.
	Format Format

	// Base is put before the names of files in references and origins, with a
	// slash between. Give the path of the file system's root: entries are
	// known again by their origin, so two directories that are read under the
	// same names would pass for one.
	Base string

	// Location is the zone of dates that name none; nil means UTC.
	Location *time.Location

	// ModTime dates a Markdown text that says no date itself; zero leaves that
	// to the store's clock. [Read] takes the file's own.
	ModTime time.Time

	// Dates says when sessions of chats were, by their id. [Read] adds those it
	// finds in the directory of a chat log.
	Dates map[string]time.Time

	// MaxExpanded is the most bytes that one gzip file may expand to; 0 means
	// the constant of that name.
	MaxExpanded int64
}

func (o *ReadOptions) or() ReadOptions {
	if o == nil {
		return ReadOptions{}
	}
	return *o
}

func (o *ReadOptions) ref(name string) string {
	if o == nil || o.Base == "" {
		return name
	}
	return strings.TrimSuffix(o.Base, "/") + "/" + name
}

// location returns the zone of dates that have none, UTC unless given.
func (o *ReadOptions) location() *time.Location {
	if o == nil || o.Location == nil {
		return time.UTC
	}
	return o.Location
}

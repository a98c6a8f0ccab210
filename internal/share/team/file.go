// This file reads and writes an entry's file in the format of package mdtree, and enforces
// limits and the file name's form.

package team

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// Limits of files.
const (
	maxContent = 16 << 10 // maximum size of an entry's content in bytes (a merge that keeps both texts may exceed it)
	maxFile    = 64 << 10 // bytes of a file, including names and labels
	maxFiles   = 20_000   // number of files in a directory that are read
)

const extension = ".md"

// alphabet contains the digits of Crockford's base 32, in which ULIDs are written.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// isEntryFile reports whether the file name is a ULID followed by .md. The ULID must be in upper
// case, so that no two names differ only in case.
func isEntryFile(name string) bool {
	id, ok := strings.CutSuffix(name, extension)
	return ok && len(id) == 26 && id[0] <= '7' && strings.Trim(id, alphabet) == ""
}

// fileName returns the name of an entry's file: a ULID with the time and 80 random bits.
func fileName(at time.Time, random [10]byte) string {
	ms := uint64(max(0, at.UnixMilli()))
	var raw [16]byte
	for i := range 6 {
		raw[i] = byte(ms >> (40 - 8*i))
	}
	copy(raw[6:], random[:])
	var id [26]byte
	acc, bits := uint32(0), uint(2) // 26 digits have 130 bits, so the 128 bits are preceded by two zeros
	n := 0
	for _, b := range raw {
		acc, bits = acc<<8|uint32(b), bits+8
		for bits >= 5 {
			bits -= 5
			id[n] = alphabet[acc>>bits&31]
			n++
		}
	}
	return string(id[:]) + extension
}

// parseEntry parses an entry's file. A file may have CRLF line ends on all lines, because git may convert files on
// Windows. notes describe parts that were ignored.
func parseEntry(text string) (e oxbow.Entry, notes []string, err error) {
	if len(text) > maxFile {
		return e, nil, fmt.Errorf("has %d bytes; the most is %d", len(text), maxFile)
	}
	if strings.IndexByte(text, '\r') >= 0 && strings.Count(text, "\n") == strings.Count(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if mdtree.HasConflictMarkers(text) {
		return e, nil, mdtree.ErrConflictMarkers
	}
	e, notes, err = mdtree.ParseEntry(text)
	if err == nil {
		err = checkEntry(&e)
	}
	return e, notes, err
}

// checkEntry returns an error if the entry is not valid for a team file.
func checkEntry(e *oxbow.Entry) error {
	if e.Name == "" {
		return errors.New(
			"does not say the entry's name; write it as <dt>Name</dt> and <dd>…</dd> into its block of data",
		)
	}
	if e.Kind != oxbow.Note {
		return fmt.Errorf("is of kind %s; team files are notes", e.Kind)
	}
	return oxbow.Add{Name: e.Name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels}.Check()
}

// formatEntry returns the text of an entry's file.
func formatEntry(e *oxbow.Entry) string { return mdtree.FormatEntry(*e) }

// The file of an entry: that of package mdtree, with bounds and a name.

package team

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// Limits of what is read and written.
const (
	maxContent = 16 << 10 // bytes of the content of an entry; a merge that keeps two may leave more
	maxFile    = 64 << 10 // bytes of a file: names and labels come to the content
	maxFiles   = 20_000   // files of one tree; more are not read
)

const extension = ".md"

// alphabet is that of Crockford's base 32, in which ULIDs are written.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// isEntryFile reports whether a file name is that of an entry: a ULID and .md, in
// upper case, so that two names never differ by their case alone.
func isEntryFile(name string) bool {
	id, ok := strings.CutSuffix(name, extension)
	return ok && len(id) == 26 && id[0] <= '7' && strings.Trim(id, alphabet) == ""
}

// fileName returns the name of an entry's file: a ULID of a time and 80 bits.
func fileName(at time.Time, random [10]byte) string {
	ms := uint64(max(0, at.UnixMilli()))
	var raw [16]byte
	for i := range 6 {
		raw[i] = byte(ms >> (40 - 8*i))
	}
	copy(raw[6:], random[:])
	var id [26]byte
	acc, bits := uint32(0), uint(2) // 128 bits are 26 digits of 5 with two zeros before
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

// parse reads the file of an entry. A file whose lines all end in CRLF, as git may
// write them on Windows, is read as with LF. Notes are of parts that are left out.
func parse(text string) (e oxbow.Entry, notes []string, err error) {
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
		err = check(&e)
	}
	return e, notes, err
}

// check returns why an entry cannot be a team file.
func check(e *oxbow.Entry) error {
	if e.Name == "" {
		return errors.New("does not say the entry's name; write it as <dt>Name</dt> and <dd>…</dd> into its block of data")
	}
	if e.Kind != oxbow.Note {
		return fmt.Errorf("is of kind %s; team files are notes", e.Kind)
	}
	return oxbow.Add{Name: e.Name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels}.Check()
}

// format returns the file of an entry.
func format(e *oxbow.Entry) string { return mdtree.FormatEntry(*e) }

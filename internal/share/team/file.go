// This file names the files for entries, and enforces the limits of files and entries.

package team

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// Limits for team files.
const (
	maxContentBytes = 16 << 10 // maximum size of a content in bytes (a merge that keeps both texts may exceed it)
	maxFileBytes    = 64 << 10 // maximum size of a file in bytes, including names and labels
	maxTeamFiles    = 20_000   // maximum number of files in the directory that are read
)

const fileExtension = ".md"

// base32Alphabet contains the digits of Crockford's base 32, with which ULIDs are written.
const base32Alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ulidLength is the number of digits in a ULID.
const ulidLength = 26

// maxTitleBytes is the maximum number of bytes from an entry's name that its file name contains.
const maxTitleBytes = 60

// isEntryFile reports whether a file name is an entry's file name: a ULID and ".md", or a title, a dash, a ULID and
// ".md". The ULID must be in upper case and the title in lower case, so that no two names differ only in case.
func isEntryFile(name string) bool {
	id, ok := strings.CutSuffix(name, fileExtension)
	if !ok || len(id) < ulidLength {
		return false
	}
	prefix, id := id[:len(id)-ulidLength], id[len(id)-ulidLength:]
	title, hasDash := strings.CutSuffix(prefix, "-")
	return id[0] <= '7' && strings.Trim(id, base32Alphabet) == "" &&
		(prefix == "" || (hasDash && title != "" && len(title) <= maxTitleBytes && title == titleForName(title)))
}

// titleForName returns a short form of an entry's name. The file name of the entry begins with this title. The title
// contains the words of the name, with single dashes between the words. It contains only digits and the ASCII letters a
// to z, and has at most maxTitleBytes bytes. titleForName returns "" if the name contains no such characters.
func titleForName(name string) string {
	words := strings.FieldsFunc(text.MakeSlug(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	title := strings.Join(words, "-")
	return strings.TrimRight(title[:min(len(title), maxTitleBytes)], "-")
}

// fileName returns the file name for a new entry. It contains the words of the entry's name, by which people recognize
// the file, and a ULID, so that two branches never choose the same name.
func fileName(name string, at time.Time, random [10]byte) string {
	if title := titleForName(name); title != "" {
		return title + "-" + newULID(at, random) + fileExtension
	}
	return newULID(at, random) + fileExtension
}

// newULID returns the ULID that consists of a time and 80 random bits.
func newULID(at time.Time, random [10]byte) string {
	ms := uint64(max(0, at.UnixMilli()))
	var raw [16]byte
	for i := range 6 {
		raw[i] = byte(ms >> (40 - 8*i))
	}
	copy(raw[6:], random[:])
	var id [ulidLength]byte
	acc, bits := uint32(0), uint(2) // 26 digits have 130 bits, so two zero bits come before the 128 bits.
	n := 0
	for _, b := range raw {
		acc, bits = acc<<8|uint32(b), bits+8
		for bits >= 5 {
			bits -= 5
			id[n] = base32Alphabet[acc>>bits&31]
			n++
		}
	}
	return string(id[:])
}

// parseEntry parses the file of an entry. All lines may end with CRLF, because git may convert files on Windows. The
// file may also have the format of package mdtree, which earlier versions wrote. notes says which parts were ignored.
func parseEntry(file string) (e oxbow.Entry, notes []string, err error) {
	if len(file) > maxFileBytes {
		return e, nil, fmt.Errorf("has %d bytes; the most is %d", len(file), maxFileBytes)
	}
	if strings.IndexByte(file, '\r') >= 0 && strings.Count(file, "\n") == strings.Count(file, "\r\n") {
		file = strings.ReplaceAll(file, "\r\n", "\n")
	}
	if mdtree.HasConflictMarkers(file) {
		return e, nil, mdtree.ErrConflictMarkers
	}
	e, notes, ok, err := parseText(file)
	if !ok {
		e, notes, err = mdtree.ParseEntry(file)
	}
	if err == nil {
		err = checkEntry(&e)
	}
	return e, notes, err
}

// checkEntry returns an error if the entry has no name, is not a note, or has an invalid name, alias, label or content.
// [Check] also applies the limits for team files.
func checkEntry(e *oxbow.Entry) error {
	if e.Name == "" {
		return errors.New(
			"does not say the entry's name; begin the file with the lines ---, name: NAME and ---",
		)
	}
	if e.Kind != oxbow.Note {
		return fmt.Errorf("is of kind %s; team files are notes", e.Kind)
	}
	return oxbow.Add{Name: e.Name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels}.Check()
}

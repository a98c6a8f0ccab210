// This file merges the sidecars of two branches. A sidecar is a file with the annotations of one source file.

package annotate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// MergeResult is the result of [MergeSidecars].
type MergeResult struct {
	Data        []byte // the merged sidecar
	RecordCount int    // number of annotations in the merged annotation file (sidecar)
	// lines of the two merged versions that cannot be read, each with a line feed; Data does not contain these lines
	UnreadableLines []byte
	// how many lines are in the common base but not in Data, because one of the two versions had deleted them
	RemovedLineCount int
}

// MergeSidecars merges two versions of a sidecar, which is a file with annotations. The arguments ours and theirs
// contain these versions. The argument base contains the version from which both were made, and may be empty. If ours
// and theirs are swapped, the result is the same.
//
// The result's field Data contains the merged file. It consists of the lines of base that neither side deleted, in
// their order, and of the lines that either side added, sorted by time. If both sides added equal lines, or annotations
// that differ only in time, commit and blob, Data contains only one line.
//
// A line of base that only one side deleted is deleted, because a person may have had to erase it. If that side is
// damaged, the line is kept, because the deletion may have been an accident. Lines that a newer version of oxbow wrote
// in another format are kept.
func MergeSidecars(base, ours, theirs []byte) MergeResult {
	b := parseMergedFileVersion(base)
	o := parseMergedFileVersion(ours)
	t := parseMergedFileVersion(theirs)
	var m MergeResult
	var all []*parsedMergeLine
	at := map[string]int{}
	add := func(p *parsedMergeLine) {
		// If several annotations have the same key, keep the annotation that parseSidecar would use.
		if i, ok := at[p.equalityKey]; ok && p.equalityKey != "" {
			if p.text < all[i].text {
				all[i] = p
			}
			return
		}
		at[p.equalityKey] = len(all)
		all = append(all, p)
	}
	for _, p := range b.parsedLines {
		inOurs, inTheirs := o.containsLine[p.text], t.containsLine[p.text]
		// Keep a line of the base that one of the two merged versions lacks, if that version is damaged. It may have
		// lost the line without anybody deleting it.
		isKept := (inOurs && inTheirs) || (inOurs && t.isDamaged) || (inTheirs && o.isDamaged)
		if isKept {
			add(p)
		} else if inOurs || inTheirs {
			m.RemovedLineCount++
		}
	}
	fresh := map[string]*parsedMergeLine{}
	for _, side := range []*mergedFileVersion{o, t} {
		for _, p := range side.parsedLines {
			if !b.containsLine[p.text] {
				fresh[p.text] = p
			}
		}
	}
	added := make([]*parsedMergeLine, 0, len(fresh))
	for _, p := range fresh {
		added = append(added, p)
	}
	slices.SortFunc(added, func(x, y *parsedMergeLine) int {
		return cmp.Or(x.time.Compare(y.time), strings.Compare(x.text, y.text))
	})
	for _, p := range added {
		add(p)
	}
	ids := map[string]bool{}
	for _, p := range all {
		m.Data = append(append(m.Data, p.text...), '\n')
		if p.id != "" {
			ids[p.id] = true
		}
	}
	m.RecordCount = len(ids)
	bad := slices.Concat(o.unparsedLines, t.unparsedLines)
	slices.Sort(bad)
	for _, l := range slices.Compact(bad) {
		m.UnreadableLines = append(append(m.UnreadableLines, l...), '\n')
	}
	return m
}

// parsedMergeLine is a line of an annotation file that could be parsed.
type parsedMergeLine struct {
	text string
	time time.Time
	id   string // ID of the annotation ("" if the line is not an annotation)
	// equal for annotations that differ only in time, commit and blob ("" if the line of the annotation file is not an
	// annotation)
	equalityKey string
}

// mergedFileVersion contains the lines from one of the three versions in an annotation file's merge, without
// duplicates.
type mergedFileVersion struct {
	parsedLines   []*parsedMergeLine
	containsLine  map[string]bool
	unparsedLines []string
	isDamaged     bool
}

func parseMergedFileVersion(data []byte) *mergedFileVersion {
	s := &mergedFileVersion{containsLine: map[string]bool{}}
	for l := range bytes.Lines(data) {
		l = bytes.TrimRight(l, "\r\n")
		r, e, newer, err := parseSidecarLine(l)
		p := &parsedMergeLine{text: string(l)}
		switch {
		case err != nil:
			s.unparsedLines, s.isDamaged = append(s.unparsedLines, p.text), true
			continue
		case r != nil:
			p.time, p.id = r.Time, r.ID
			same := *r
			same.Time = time.Time{}
			same.Commit = ""
			same.FileBlobName = ""
			key, err := appendRecord(nil, &same)
			// If the record is too long to be encoded again, compare the text of the whole line.
			if err != nil {
				key = l
			}
			p.equalityKey = string(key)
		case e != nil:
			p.time = e.time
		case newer:
			var v struct {
				Time time.Time `json:"time"`
			}
			_ = json.Unmarshal(l, &v) // Ignore the error, because a newer version may use a different format.
			p.time = v.Time
		default:
			continue
		}
		if !s.containsLine[p.text] {
			s.containsLine[p.text] = true
			s.parsedLines = append(s.parsedLines, p)
		}
	}
	return s
}

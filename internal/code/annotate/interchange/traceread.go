// This file reads Agent Trace records.

package interchange

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// maxTraceInputBytes is the maximum number of bytes that [ReadTraces] reads.
const maxTraceInputBytes = 256 << 20

// parseTraces parses trace records, which are the elements of a JSON array or consecutive JSON values. If the text has
// a JSON syntax error, each line is parsed as a separate record. unreadableRecords is the number of records that could
// not be parsed or have no files.
func parseTraces(text []byte) (ts []traceRecord, unreadableRecords int) {
	take := func(raw []byte) bool {
		var t traceRecord
		if json.Unmarshal(raw, &t) != nil || t.Files == nil {
			return false
		}
		ts = append(ts, t)
		return true
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	var all []json.RawMessage
	if bytes.HasPrefix(text, []byte("[")) && json.Unmarshal(text, &all) == nil {
		for _, raw := range all {
			if !take(raw) {
				unreadableRecords++
			}
		}
		return ts, unreadableRecords
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return ts, unreadableRecords
		}
		if err != nil {
			break
		}
		if !take(raw) {
			unreadableRecords++
		}
	}
	// The JSON text has a syntax error. Parse each line as a separate trace record, so that only broken lines are
	// lost.
	ts, unreadableRecords = nil, 0
	for l := range bytes.Lines(text) {
		l = bytes.TrimSpace(l)
		if len(l) > 0 && !take(l) {
			unreadableRecords++
		}
	}
	return ts, unreadableRecords
}

// ReadTraces converts the trace records in r to annotation records for [annotate.Store.Add]. For a trace that
// [WriteTraces] wrote, the result is the original annotation. For a trace of another program, the result has a record
// for each range of lines, except for ranges that a person wrote. The record names the author of the lines. ReadTraces
// reads the lines at the revision that the trace names, if the repository has this revision. The ConversionReport
// counts the omitted parts. Reading the same traces again returns the same records. The input may have at most 256 MiB.
func ReadTraces(ctx context.Context, b *annotate.Store, r io.Reader) ([]annotate.Record, ConversionReport, error) {
	var rep ConversionReport
	text, err := io.ReadAll(io.LimitReader(r, maxTraceInputBytes+1))
	if err != nil {
		return nil, rep, fmt.Errorf("reading agent traces: %w", err)
	}
	if len(text) > maxTraceInputBytes {
		return nil, rep, fmt.Errorf(
			"reading agent traces: %w",
			&oxbow.InvalidError{Field: "traces", Reason: fmt.Sprintf("have more than %d MiB", maxTraceInputBytes>>20)},
		)
	}
	ts, bad := parseTraces(text)
	for range bad {
		rep.countLoss("records that cannot be read")
	}
	var out []annotate.Record
	var wants []importedLineRange
	for i := range ts {
		if raw, ok := ts[i].Metadata[traceMetadataKey]; ok {
			rec, err := annotate.ParseRecord(raw)
			if err == nil {
				out = append(out, rec)
				continue
			}
			rep.countLoss("annotations in metadata that cannot be read; their ranges are taken")
		}
		wants = append(wants, importableTraceRanges(&ts[i], &rep)...)
	}
	more, err := buildImportedRecords(ctx, b, wants, &rep)
	if err != nil {
		return nil, rep, fmt.Errorf("reading agent traces: %w", err)
	}
	out = append(out, more...)
	rep.WrittenCount = len(out)
	return out, rep, nil
}

// importableTraceRanges returns the line ranges of a trace that another program wrote. Ranges that cannot be
// imported are left out and counted in the report.
func importableTraceRanges(t *traceRecord, rep *ConversionReport) []importedLineRange {
	var out []importedLineRange
	commit := ""
	switch {
	case t.VCS == nil:
	case t.VCS.Type != "git":
		rep.countLoss("records of another version control system than git")
		return nil
	case !git.IsHash(strings.ToLower(t.VCS.Revision)):
		rep.countLoss("records whose revision is no whole name of a commit")
		return nil
	default:
		commit = strings.ToLower(t.VCS.Revision)
	}
	if strings.SplitN(t.Version, ".", 2)[0] > "1" {
		rep.countLoss("records of a version that is not known")
		return nil
	}
	for fi, f := range t.Files {
		for ci, c := range f.Conversations {
			if len(c.Related) > 0 {
				rep.countLoss("related resources of a conversation")
			}
			for ri, l := range c.Ranges {
				who := traceContributor{Type: "unknown"}
				if c.Contributor != nil {
					who = *c.Contributor
				}
				if l.Contributor != nil {
					who = *l.Contributor
				}
				span := annotate.LineSpan{First: l.StartLine, Last: l.EndLine}
				switch {
				case who.Type == "human":
					rep.countLoss("ranges that a person wrote")
					continue
				case annotate.CheckFile(f.Path) != nil || span.Len() == 0:
					rep.countLoss("ranges whose path or lines cannot be")
					continue
				}
				if l.ContentHash != "" {
					rep.countLoss("content hashes: they are not compared")
				}
				sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d %d %d", t.ID, f.Path, fi, ci, ri))
				r := annotate.Record{
					ID: "a" + hex.EncodeToString(sum[:8]), File: f.Path, Span: span,
					Author: oxbow.Agent, Model: truncateField(who.ModelID),
					Time: t.Timestamp, Commit: commit, SourceRef: truncateField(c.URL),
				}
				by := "an AI"
				if who.Type == "mixed" {
					by = "an AI and a person"
				} else if who.Type != "ai" {
					by, r.Author = "somebody", oxbow.Imported
				}
				if who.ModelID != "" {
					by = who.ModelID
					if who.Type == "mixed" {
						by += " and a person"
					}
				}
				r.Why = "Written by " + by
				if t.WritingTool != nil && t.WritingTool.Name != "" {
					r.Agent = truncateField(t.WritingTool.Name)
					r.Why += " in " + strings.TrimSpace(t.WritingTool.Name+" "+t.WritingTool.Version)
				}
				r.Why += ". Agent Trace does not say why."
				if c.URL != "" {
					r.Why += " Conversation: " + c.URL
				}
				r.Why = truncateReasoning(r.Why)
				out = append(out, importedLineRange{r, annotate.FileAtCommit{Commit: commit, File: f.Path}})
			}
		}
	}
	return out
}

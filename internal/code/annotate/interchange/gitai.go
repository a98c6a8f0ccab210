// This file reads Git AI's notes: authorship logs in the format Standard v3.0.0, stored as
// commit notes in refs/notes/ai.
//
// For the files in a commit, a log lists the lines that an agent's session or a known person
// wrote:
//
//	src/main.rs
//	  s_c9883b05a2487d::t_9f8e7d6c5b4a32 1-10,15-20
//	  h_31dce776f88375 25
//	"a name.rs"
//	  d9978a8723e02b52 1
//	---
//	{"schema_version":"authorship/3.0.0","base_commit_sha":…,
//	 "prompts":{"d9978a8723e02b52":{"agent_id":{"tool":…,"id":…,"model":…},…}},
//	 "sessions":{"s_c9883b05a2487d":{…}},"humans":{"h_31dce776f88375":{"author":…}}}
//
// Two spaces precede the key of an author. The text after "::" differs between the edits of one session. Git AI's logs
// before version 1.4 have keys without a prefix, and some of these logs contain the conversation's messages.

package interchange

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// gitAINotesRef is the ref in which Git AI keeps its notes.
const gitAINotesRef = "refs/notes/ai"

// authorshipLog is the parsed authorship log in one commit note.
type authorshipLog struct {
	Files           []authoredFile
	metadata        authorshipMetadata
	unreadableParts []string // a description with the line number for each part of the log that could not be read
}

// authoredFile lists the authors of the lines in one file.
type authoredFile struct {
	Path          string
	SpansByAuthor []authorLineSpans
}

// authorLineSpans lists the lines that one author wrote in a file.
type authorLineSpans struct {
	AuthorKey string // key of a session or a person, without the part from "::" on
	Spans     []annotate.LineSpan
}

type authorshipMetadata struct {
	Schema   string                   `json:"schema_version"`
	Prompts  map[string]promptSession `json:"prompts"`
	Sessions map[string]promptSession `json:"sessions"`
}

type promptSession struct {
	Agent struct {
		Tool  string `json:"tool"`
		ID    string `json:"id"`
		Model string `json:"model"`
	} `json:"agent_id"`
	HumanAuthor string `json:"human_author"`
	MessagesURL string `json:"messages_url"`
	Messages    []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"messages"`
}

// errAuthorshipVersion is returned if the authorship log in a Git AI note does not have the major version 3.
var errAuthorshipVersion = errors.New("the log is not of version 3")

// parseAuthorship parses a log. Lines that cannot be read are skipped and described in unreadableParts.
func parseAuthorship(note []byte) (*authorshipLog, error) {
	l := &authorshipLog{}
	rest := note
	divided := false
	for n := 1; len(rest) > 0; n++ {
		var b []byte
		b, rest, _ = bytes.Cut(rest, []byte{'\n'})
		line := strings.TrimSuffix(string(b), "\r")
		if line == "---" {
			divided = true
			break
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		entry, ok := strings.CutPrefix(line, "  ")
		if !ok {
			if p, err := strconv.Unquote(line); err == nil && line[0] == '"' {
				line = p
			} else {
				line = strings.Trim(line, `"`)
			}
			l.Files = append(l.Files, authoredFile{Path: line})
			continue
		}
		e, err := parseAuthoredLines(entry)
		if len(l.Files) == 0 {
			err = errors.New("no file is named before it")
		}
		if err != nil {
			l.unreadableParts = append(l.unreadableParts, fmt.Sprintf("line %d: %v", n, err))
		}
		if len(e.Spans) == 0 || len(l.Files) == 0 {
			continue
		}
		f := &l.Files[len(l.Files)-1]
		f.SpansByAuthor = append(f.SpansByAuthor, e)
	}
	if !divided {
		return nil, errors.New("a log has no metadata")
	}
	err := json.Unmarshal(rest, &l.metadata)
	// If only a field has the wrong type, package json has decoded all other fields.
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		l.unreadableParts = append(l.unreadableParts, "metadata: "+err.Error())
	} else if err != nil {
		return nil, fmt.Errorf("reading the metadata of a log: %w", err)
	}
	if !strings.HasPrefix(l.metadata.Schema, "authorship/3.") {
		return nil, fmt.Errorf("%w: %.60q", errAuthorshipVersion, l.metadata.Schema)
	}
	return l, nil
}

// parseAuthoredLines parses an entry such as "KEY 1-4,9,12-14". If some ranges are invalid, it returns
// the valid ranges together with an error.
func parseAuthoredLines(s string) (e authorLineSpans, rangeErr error) {
	key, spans, ok := strings.Cut(strings.TrimSpace(s), " ")
	if !ok || key == "" {
		return authorLineSpans{}, fmt.Errorf("%.60q is no entry of a log", s)
	}
	key, _, _ = strings.Cut(key, "::")
	e.AuthorKey = key
	for part := range strings.SplitSeq(spans, ",") {
		a, b, two := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(a)
		last := first
		if err == nil && two {
			last, err = strconv.Atoi(b)
		}
		span := annotate.LineSpan{First: first, Last: last}
		isRange := span.Len() > 0 && last <= 1<<30
		if err != nil || !isRange {
			rangeErr = fmt.Errorf("%.60q is no range of lines", part)
			continue
		}
		e.Spans = append(e.Spans, span)
	}
	return e, rangeErr
}

// ReadGitAI converts Git AI's notes in the repository of b to records for [annotate.Store.Add]. It makes one record for
// each line range that a session wrote. Adjacent and overlapping ranges of a session are joined. A record names the
// author of the lines. It contains a reason only if the note contains the messages of the conversation. If ReadGitAI
// reads the same notes again, it returns the same records. Without a repository, the error matches
// [oxbow.ErrUnsupported].
func ReadGitAI(ctx context.Context, b *annotate.Store) ([]annotate.Record, ConversionReport, error) {
	var rep ConversionReport
	notes, err := b.ReadGitNotes(ctx, gitAINotesRef)
	if err != nil {
		return nil, rep, fmt.Errorf("reading the notes of Git AI: %w", err)
	}
	var recs []annotate.Record
	var places []annotate.FileAtCommit
	for _, commit := range slices.Sorted(maps.Keys(notes)) {
		l, err := parseAuthorship(notes[commit])
		if errors.Is(err, errAuthorshipVersion) {
			rep.countLoss("notes of another version than 3")
			continue
		}
		if err != nil {
			rep.countLoss(fmt.Sprintf("bad note: that of commit %.12s: %v", commit, err))
			continue
		}
		for _, b := range l.unreadableParts {
			rep.countLoss(fmt.Sprintf("bad line: note of commit %.12s, %s", commit, b))
		}
		rep.NotesRead++
		for _, r := range l.toRecords(commit, &rep) {
			recs = append(recs, r)
			places = append(places, annotate.FileAtCommit{Commit: commit, File: r.File})
		}
	}
	then, err := b.ReadFilesAtCommits(ctx, places)
	if err != nil {
		return nil, rep, fmt.Errorf("reading the notes of Git AI: %w", err)
	}
	var out []annotate.Record
	for i, r := range recs {
		switch t := then[i]; {
		case t.Time.IsZero():
			rep.countLoss("ranges of commits that are not there, such as before a rebase")
		case t.Lines == nil || !r.SetLines(t.Lines):
			rep.countLoss("ranges that their file does not have")
		default:
			r.FileBlobName, r.Time = t.BlobName, t.Time
			out = append(out, r)
		}
	}
	rep.WrittenCount = len(out)
	return out, rep, nil
}

// toRecords converts a log to records. The caller must still add the text of the lines.
func (l *authorshipLog) toRecords(commit string, rep *ConversionReport) []annotate.Record {
	var out []annotate.Record
	for _, f := range l.Files {
		if annotate.CheckFile(f.Path) != nil {
			rep.countLoss("files whose path cannot be")
			continue
		}
		spans := map[string][]annotate.LineSpan{}
		var keys []string
		for _, e := range f.SpansByAuthor {
			if strings.HasPrefix(e.AuthorKey, "h_") {
				rep.countLoss("entries of known persons")
				continue
			}
			if spans[e.AuthorKey] == nil {
				keys = append(keys, e.AuthorKey)
			}
			spans[e.AuthorKey] = append(spans[e.AuthorKey], e.Spans...)
		}
		for _, k := range keys {
			p, ok := l.metadata.Sessions[k]
			if !ok {
				p, ok = l.metadata.Prompts[k]
			}
			if !ok {
				rep.countLoss("entries of sessions that the note does not describe")
				continue
			}
			for _, s := range joinSpans(spans[k]) {
				sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %d", commit, f.Path, k, s.First, s.Last))
				out = append(out, annotate.Record{ID: "g" +
					hex.EncodeToString(sum[:8]), File: f.Path, Span: s, Why: p.formatEditReason(), Author: oxbow.Agent,
					Agent: truncateField(
						p.Agent.Tool,
					), Model: truncateField(p.Agent.Model), Session: truncateField(p.Agent.ID), Commit: commit,
					SourceRef: truncateField("git-ai " + k)})
			}
		}
	}
	return out
}

// joinSpans returns the spans in order. It joins spans that overlap or are adjacent.
func joinSpans(spans []annotate.LineSpan) []annotate.LineSpan {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b annotate.LineSpan) int {
		if a.First != b.First {
			return a.First - b.First
		}
		return a.Last - b.Last
	})
	var out []annotate.LineSpan
	for _, s := range spans {
		if n := len(out); n > 0 && s.First <= out[n-1].Last+1 {
			out[n-1].Last = max(out[n-1].Last, s.Last)
			continue
		}
		out = append(out, s)
	}
	return out
}

// formatEditReason returns the text for Record.Why: the last request of the session with its private parts hidden
// ([text.HidePrivateParts]), the agent's last answer, and the author. The request and the answer are left out if the
// log does not contain them. If both are missing, the text says that no reason is known.
func (p *promptSession) formatEditReason() string {
	asked, said := "", ""
	for _, m := range p.Messages {
		switch t := strings.TrimSpace(m.Text); m.Type {
		case "user":
			asked = text.HidePrivateParts(t)
		case "assistant":
			said = t
		}
	}
	who := "an agent"
	if p.Agent.Tool != "" {
		who = p.Agent.Tool
		if p.Agent.Model != "" {
			who += " (" + p.Agent.Model + ")"
		}
	}
	by := "Written by " + who
	if p.HumanAuthor != "" {
		by += ", directed by " + p.HumanAuthor
	}
	by += "."
	if p.MessagesURL != "" {
		by += " Conversation: " + p.MessagesURL
	}
	switch {
	case said != "" && asked != "":
		by = said + "\n\nIt was asked: " + asked + "\n\n" + by
	case said != "":
		by = said + "\n\n" + by
	case asked != "":
		by = "It was asked: " + asked + "\n\n" + by
	default:
		by += " Git AI does not say why."
	}
	return truncateReasoning(by)
}

// This file writes annotations as Agent Trace records.
//
// Agent Trace 0.1 (https://agent-trace.dev) describes which lines of a file at a revision were written by an AI or by
// a person, and in which conversation. It lacks a field for a reason. Therefore the whole annotation is stored in the
// metadata, under traceMetadataKey. oxbow reads its own records without loss, and other programs can read the lines,
// the model and the revision.

package interchange

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// traceFormatVersion is the version of the Agent Trace specification in each trace record. It has three numbers,
// because the JSON schema of the specification requires three numbers.
const traceFormatVersion = "0.1.0"

// traceMetadataKey is the metadata key under which a trace record contains the whole annotation.
const traceMetadataKey = "dev.oxbow"

// traceRecord is a record in the format of the Agent Trace specification. It describes one change, which may concern
// several files.
type traceRecord struct {
	Version     string                     `json:"version"`
	ID          string                     `json:"id"` // UUID
	Timestamp   time.Time                  `json:"timestamp"`
	VCS         *traceVCS                  `json:"vcs,omitempty"`
	WritingTool *traceTool                 `json:"tool,omitempty"`
	Files       []traceFile                `json:"files"`
	Metadata    map[string]json.RawMessage `json:"metadata,omitempty"`
}

type traceVCS struct {
	Type     string `json:"type"` // "git", "jj", "hg" or "svn"
	Revision string `json:"revision"`
}

type traceTool struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type traceFile struct {
	Path          string              `json:"path"`
	Conversations []traceConversation `json:"conversations"`
}

type traceConversation struct {
	URL         string            `json:"url,omitempty"`
	Contributor *traceContributor `json:"contributor,omitempty"`
	Ranges      []traceLineRange  `json:"ranges"`
	Related     []relatedResource `json:"related,omitempty"`
}

type traceContributor struct {
	Type    string `json:"type"` // "human", "ai", "mixed" or "unknown"
	ModelID string `json:"model_id,omitempty"`
}

type traceLineRange struct {
	StartLine   int               `json:"start_line"`
	EndLine     int               `json:"end_line"`
	ContentHash string            `json:"content_hash,omitempty"`
	Contributor *traceContributor `json:"contributor,omitempty"`
}

type relatedResource struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// WriteTraces writes each annotation as a trace record on a line of its own. The same annotations always result in the
// same bytes. The line numbers are those from the time when the annotation was made. Annotations without known lines
// are omitted and counted in the report.
func WriteTraces(w io.Writer, records []annotate.Record) (ConversionReport, error) {
	var rep ConversionReport
	for i := range records {
		r := &records[i]
		if r.Span.Len() == 0 {
			rep.countLoss("annotations whose lines are not known are left out")
			continue
		}
		t, err := makeTraceRecord(r, &rep)
		if err != nil {
			return rep, fmt.Errorf("writing agent traces: %w", err)
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(t); err != nil {
			return rep, fmt.Errorf("writing agent traces: %w", err)
		}
		if _, err := w.Write(b.Bytes()); err != nil {
			return rep, fmt.Errorf("writing agent traces: %w", err)
		}
		rep.WrittenCount++
	}
	return rep, nil
}

// makeTraceRecord converts an annotation to a trace record. The properties that the format cannot express are counted
// in the report.
func makeTraceRecord(r *annotate.Record, rep *ConversionReport) (*traceRecord, error) {
	t := &traceRecord{Version: traceFormatVersion, ID: uuidFromName(r.ID + " " + r.File), Timestamp: r.Time.UTC()}
	if r.Commit != "" {
		t.VCS = &traceVCS{"git", r.Commit}
	} else {
		rep.countLoss("annotations without a commit: no revision says where their lines are")
	}
	if r.Agent != "" {
		t.WritingTool = &traceTool{Name: r.Agent}
	}
	c := traceConversation{
		Contributor: makeContributor(r),
		Ranges: []traceLineRange{
			{StartLine: r.Span.First, EndLine: r.Span.Last, ContentHash: "sha256-128:" + r.BlockHash},
		},
	}
	if isWebAddress(r.SourceRef) {
		c.URL = r.SourceRef
	}
	t.Files = []traceFile{{Path: r.File, Conversations: []traceConversation{c}}}
	l, err := r.EncodeLine()
	if err != nil {
		return nil, err
	}
	t.Metadata = map[string]json.RawMessage{traceMetadataKey: l}
	rep.countLoss("reasoning has no place in Agent Trace: it is in the metadata")
	if r.Archived {
		rep.countLoss("archived annotations: read again they are not archived")
	}
	return t, nil
}

func makeContributor(r *annotate.Record) *traceContributor {
	switch r.Author {
	case oxbow.Agent:
		if id := addModelProvider(r.Model); len(id) <= 250 {
			return &traceContributor{Type: "ai", ModelID: id}
		}
		return &traceContributor{Type: "ai"}
	case oxbow.Person:
		return &traceContributor{Type: "human"}
	}
	return &traceContributor{Type: "unknown"}
}

// uuidFromName derives a UUID of version 8 (RFC 9562, section 5.8) from a name. Such a UUID has arbitrary content, and
// uuidFromName uses the SHA-256 hash of the name.
func uuidFromName(name string) string {
	b := sha256.Sum256([]byte(name))
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// addModelProvider returns "provider/model", the form of models.dev, if the model's provider is known. Otherwise it
// returns the model unchanged.
func addModelProvider(model string) string {
	if model == "" || strings.Contains(model, "/") {
		return model
	}
	for _, p := range []struct{ start, provider string }{
		{"claude", "anthropic"}, {"gpt", "openai"}, {"codex", "openai"}, {"o1", "openai"}, {"o3", "openai"},
		{"o4", "openai"},
		{"gemini", "google"}, {"grok", "xai"}, {"mistral", "mistral"}, {"devstral", "mistral"},
		{"deepseek", "deepseek"},
	} {
		if strings.HasPrefix(model, p.start) {
			return p.provider + "/" + model
		}
	}
	return model
}

// isWebAddress reports whether a text is an http or https address.
func isWebAddress(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http"
}

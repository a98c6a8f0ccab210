// This file tests edits in the sessions that opencode exports.

package fileedits

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// TestOpencodeExport tests that the edits of an exported session have their lines and reasons, and that a file written
// as a whole is found.
func TestOpencodeExport(t *testing.T) {
	const session = `{
"info":{"id":"ses_1","directory":"/home/pat/harbor"},
"messages":[
{"info":{"id":"m1","role":"user"},"parts":[{"type":"text","text":"Raise it."}]},
{"info":{"id":"m2","role":"assistant","modelID":"m"},"parts":[{"type":"text","text":"It is low."},
{"type":"tool","callID":"c1","tool":"edit","state":{"status":"completed",
"input":{"filePath":"/home/pat/harbor/a.go","oldString":"low","newString":"high"},
"metadata":{"filediff":{"before":"a\n\tlow\nb\n","after":"a\n\thigh\nb\n"}}}},
{"type":"tool","callID":"c2","tool":"write","state":{"status":"completed",
"input":{"filePath":"/home/pat/harbor/b.go","content":"b\n"},"metadata":{}}}]}]}
`
	tr, err := ReadTranscript(strings.NewReader(session), "")
	if err != nil || tr.Client != "opencode" || len(tr.Edits) != 2 {
		t.Fatalf("Read = %+v, %v, want two edits of opencode", tr, err)
	}
	e := tr.Edits[0]
	if e.Why != "It is low." || e.Span != (annotate.LineSpan{First: 2, Last: 2}) || e.NewLines[0] != "\thigh" ||
		e.CallID != "ses_1 c1" || e.Dir != "/home/pat/harbor" {
		t.Errorf("the first edit is %+v", e)
	}
	if e := tr.Edits[1]; e.Span != (annotate.LineSpan{First: 1, Last: 1}) || e.Path != "/home/pat/harbor/b.go" {
		t.Errorf("the second edit is %+v", e)
	}
}

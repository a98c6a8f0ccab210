// This file tests edits in Gemini CLI's transcripts after a rewind, and in its documents.

package fileedits

import (
	"strings"
	"testing"
)

// geminiMessages contains two prompts and two edits. The first prompt and the text "It is low." precede the first edit.
// A test replaces REWIND by a line that discards earlier messages. The agent says nothing between this line and the
// second edit.
const geminiMessages = `{"id":"m1","type":"user","content":"Raise the jetty."}
{"id":"m2","type":"gemini","content":"It is low.","toolCalls":[{"id":"c1","name":"write_file","args":{"file_path":"a.go","content":"package a\n"},"status":"success"}]}
{"id":"m3","type":"gemini","content":"Now I paint it."}
REWIND
{"id":"m4","type":"user","content":"Lower it."}
{"id":"m5","type":"gemini","content":"","toolCalls":[{"id":"c2","name":"write_file","args":{"file_path":"b.go","content":"package b\n"},"status":"success"}]}`

// TestGeminiRewind tests that a text before a rewind is not used as the reason for an edit after the rewind.
func TestGeminiRewind(t *testing.T) {
	for rewind, want := range map[string]string{
		`{"$rewindTo":"m1"}`: "Lower it.",
		`{"$rewindTo":"m3"}`: "Lower it.",
	} {
		header := `{"sessionId":"s","startTime":"t","kind":"main"}` + "\n"
		tr, err := ReadTranscript(strings.NewReader(header+strings.Replace(geminiMessages, "REWIND", rewind, 1)), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(tr.Edits) != 2 || tr.Edits[0].Why != "It is low." || !strings.HasSuffix(tr.Edits[1].Why, want) {
			t.Errorf("after %s the edits are %+v, want the second for %q", rewind, tr.Edits, want)
		}
	}
}

// TestGeminiDocument reads a session of Gemini CLI up to version 0.38.
func TestGeminiDocument(t *testing.T) {
	messages := strings.ReplaceAll(strings.Replace(geminiMessages, "REWIND\n", "", 1), "\n{", ",\n{")
	tr, err := ReadTranscript(strings.NewReader("{\n\"sessionId\":\"s\",\n\"messages\":[\n"+messages+"\n]}\n"), "")
	if err != nil || tr.Client != "gemini" || len(tr.Edits) != 2 || tr.UnreadableLines != 0 ||
		tr.Edits[0].CallID == "" {
		t.Fatalf("Read = %+v, %v, want two edits", tr, err)
	}
}

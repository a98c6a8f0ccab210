// This file tests the reader of Cursor's sessions.

package clientfile

import "testing"

// TestCursorMissingMessage tests that a message whose text is missing in the database is counted as unread, and that
// the other messages are still read.
func TestCursorMissingMessage(t *testing.T) {
	document := `{"cursor":{"composerId":"s1"},"bubbles":[{"type":1,"text":"Fix the pump."},null,{"type":2,"text":"Done."}]}`
	var texts []string
	isRead := newCursorReader("state.vscdb").ReadLine([]byte(document), 0, func(e *Event) {
		if e.Text != "" {
			texts = append(texts, e.Text)
		}
	})
	if isRead || len(texts) != 2 {
		t.Errorf("read %t with the texts %q, want false with both texts", isRead, texts)
	}
}

// This file tests the reader of Cursor's sessions.

package clientfile

import "testing"

// TestCursorMissingMessage tests that a message whose text is missing in the database is reported as an unread record,
// and that the other messages are still read.
func TestCursorMissingMessage(t *testing.T) {
	document := `{"cursor":{"composerId":"s1"},"bubbles":[{"type":1,"text":"Fix the pump."},null,{"type":2,"text":"Done."}]}`
	var texts, unread []string
	isRead := newCursorReader("state.vscdb").ParseLine([]byte(document), 0, func(e *Event) {
		if e.Text != "" {
			texts = append(texts, e.Text)
		}
		if e.Kind == EventUnreadablePart {
			unread = append(unread, e.RecordName)
		}
	})
	if !isRead || len(texts) != 2 || len(unread) != 1 || unread[0] != "bubbles[1]" {
		t.Errorf("read %t with the texts %q and the unread records %q, want both texts and bubbles[1]",
			isRead, texts, unread)
	}
}

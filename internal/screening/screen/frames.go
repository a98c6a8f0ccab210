// This file remembers conversations whose text oxbow has formatted itself. In such a text, a role such as "user:" was
// written by oxbow. Therefore the role is not reported as a sign that the text contains instructions.

package screen

import (
	"context"
	"crypto/sha256"
	"sync"
)

// ConversationTexts remembers conversations whose turns oxbow has joined to one content, with a role before each turn,
// as in "user: Hello\n\nassistant: Hello!". Without this knowledge, the roles would look like a faked conversation.
// The zero ConversationTexts is empty. It is safe for concurrent use.
type ConversationTexts struct {
	mu sync.Mutex
	// words of a conversation's speakers, without the role names; the key is the conversation content's hash
	turnTextsByContentHash map[[sha256.Size]byte]string
	totalBytes             int // total size of the texts in bytes
}

// maxConversationBytes is the maximum total size of the texts in a ConversationTexts. An import never reads that much
// text before it writes.
const maxConversationBytes = 64 << 20

// AddConversation stores that content is a conversation which oxbow has formatted. When content is screened later, only
// turnTexts is examined. turnTexts contains the words of the speakers without the role names that oxbow added. If the
// stored texts would exceed maxConversationBytes, all earlier stored texts are discarded first.
func (f *ConversationTexts) AddConversation(content, turnTexts string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.turnTextsByContentHash == nil || f.totalBytes+len(turnTexts) > maxConversationBytes {
		f.turnTextsByContentHash, f.totalBytes = map[[sha256.Size]byte]string{}, 0
	}
	f.turnTextsByContentHash[sha256.Sum256([]byte(content))] = turnTexts
	f.totalBytes += len(turnTexts)
}

// TextToExamine returns the text that must be examined for a content. For a remembered conversation, these are the
// texts of its turns. For any other content, it is the whole content.
func (f *ConversationTexts) TextToExamine(content string) string {
	if f == nil {
		return content
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.turnTextsByContentHash) == 0 {
		return content
	}
	if spoken, ok := f.turnTextsByContentHash[sha256.Sum256([]byte(content))]; ok {
		return spoken
	}
	return content
}

type conversationTextsKey struct{}

// WithConversationTexts returns a context that contains f. If a change with this context writes a conversation that f
// knows, only the words of the speakers are examined, and not the role names that oxbow added.
func WithConversationTexts(ctx context.Context, f *ConversationTexts) context.Context {
	return context.WithValue(ctx, conversationTextsKey{}, f)
}

// ConversationTextsFrom returns the ConversationTexts in a context, or nil.
func ConversationTextsFrom(ctx context.Context) *ConversationTexts {
	f, _ := ctx.Value(conversationTextsKey{}).(*ConversationTexts)
	return f
}

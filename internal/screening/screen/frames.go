// This file remembers which texts oxbow itself has put into a frame, so that the frame is not examined.

package screen

import (
	"context"
	"crypto/sha256"
	"sync"
)

// ConversationTexts remembers the texts of conversations that oxbow writes as one content, with the role before
// each turn, such as "user: Hello\n\nassistant: Hello!". Without ConversationTexts, the roles would look like a faked
// conversation. The zero ConversationTexts remembers nothing. It is safe for concurrent use.
type ConversationTexts struct {
	mu              sync.Mutex
	spokenByContent map[[sha256.Size]byte]string // texts of the turns, by the content
	size            int                          // bytes of the texts
}

// maxConversationBytes is the maximum size of the remembered texts in bytes. More than an import reads ahead of its
// writes.
const maxConversationBytes = 64 << 20

// AddConversation remembers that the content consists of roles that oxbow wrote, and of the spoken texts.
func (f *ConversationTexts) AddConversation(content, spoken string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spokenByContent == nil || f.size+len(spoken) > maxConversationBytes {
		f.spokenByContent, f.size = map[[sha256.Size]byte]string{}, 0
	}
	f.spokenByContent[sha256.Sum256([]byte(content))] = spoken
	f.size += len(spoken)
}

// SpokenText returns the part of a content that must be examined: the spoken texts of a remembered conversation,
// and all of any other content.
func (f *ConversationTexts) SpokenText(content string) string {
	if f == nil {
		return content
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.spokenByContent) == 0 {
		return content
	}
	if spoken, ok := f.spokenByContent[sha256.Sum256([]byte(content))]; ok {
		return spoken
	}
	return content
}

type conversationTextsKey struct{}

// WithConversationTexts returns a context whose changes contain conversations that f remembers.
func WithConversationTexts(ctx context.Context, f *ConversationTexts) context.Context {
	return context.WithValue(ctx, conversationTextsKey{}, f)
}

// ConversationTextsFrom returns the ConversationTexts of a context, or nil.
func ConversationTextsFrom(ctx context.Context) *ConversationTexts {
	f, _ := ctx.Value(conversationTextsKey{}).(*ConversationTexts)
	return f
}

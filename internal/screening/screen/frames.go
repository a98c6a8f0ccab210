// This file remembers which texts oxbow itself has put into a frame, so that the frame is not examined.

package screen

import (
	"context"
	"crypto/sha256"
	"sync"
)

// Frames remembers the texts of conversations that oxbow writes as one content, with the role before each turn, such
// as "user: Hello\n\nassistant: Hello!". Without Frames, the roles would look like a faked conversation. The zero
// Frames remembers nothing. It is safe for concurrent use.
type Frames struct {
	mu     sync.Mutex
	spoken map[[sha256.Size]byte]string // texts of the turns, by the content
	size   int                          // bytes of the texts
}

// maxFrames is the maximum size of the remembered texts in bytes. More than an import reads ahead of its writes.
const maxFrames = 64 << 20

// Add remembers that the content consists of roles that oxbow wrote, and of the spoken texts.
func (f *Frames) Add(content, spoken string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spoken == nil || f.size+len(spoken) > maxFrames {
		f.spoken, f.size = map[[sha256.Size]byte]string{}, 0
	}
	f.spoken[sha256.Sum256([]byte(content))] = spoken
	f.size += len(spoken)
}

// Text returns the part of a content that must be examined: the spoken texts of a remembered conversation, and all of
// any other content.
func (f *Frames) Text(content string) string {
	if f == nil {
		return content
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.spoken) == 0 {
		return content
	}
	if spoken, ok := f.spoken[sha256.Sum256([]byte(content))]; ok {
		return spoken
	}
	return content
}

type framesKey struct{}

// WithFrames returns a context whose changes contain conversations that f remembers.
func WithFrames(ctx context.Context, f *Frames) context.Context {
	return context.WithValue(ctx, framesKey{}, f)
}

// FramesOf returns the Frames of a context, or nil.
func FramesOf(ctx context.Context) *Frames {
	f, _ := ctx.Value(framesKey{}).(*Frames)
	return f
}

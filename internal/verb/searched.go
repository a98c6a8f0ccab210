// This file remembers during a call which texts contain no secret, so that no text is searched twice.

package verb

import (
	"context"
	"sync"
)

// During a call, oxbow records the texts in which no secret was found, so that they are not searched again.
// maxSearchedBytes is the maximum total size, in bytes, of the recorded texts. If a text would exceed this limit, it is
// not recorded, and may be searched several times in the call.
const maxSearchedBytes = 4 << 20

// textsWithoutSecrets is a set of texts that were searched for secrets and contain none. A verb searches the arguments
// of a call, and [SecretPolicy.ScreenOp] searches the changes that result from them. Most texts are the same in both.
//
// The set cannot let a secret pass: a text that differs in a single byte, such as a name derived from the content, is
// missing from the set and is therefore searched. The set is safe for concurrent use.
type textsWithoutSecrets struct {
	mu             sync.Mutex
	texts          map[string]struct{}
	totalTextBytes int // total size of the texts in bytes
}

type secretSearchContextKey struct{}

// withSearchedTexts returns a context in which a call remembers the texts that it has searched for secrets, so
// that none is searched twice. If ctx is already such a context, it returns ctx.
func withSearchedTexts(ctx context.Context) context.Context {
	if contextTextsWithoutSecrets(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, secretSearchContextKey{}, &textsWithoutSecrets{texts: map[string]struct{}{}})
}

func contextTextsWithoutSecrets(ctx context.Context) *textsWithoutSecrets {
	s, _ := ctx.Value(secretSearchContextKey{}).(*textsWithoutSecrets)
	return s
}

// contains reports whether the text is in the set s, because the text was searched and no secret was found. It returns
// false if s is nil.
func (s *textsWithoutSecrets) contains(text string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.texts[text]
	return ok
}

// add records that a text was searched and contains no secret. It does nothing if s is nil, or if the recorded texts
// would exceed maxSearchedBytes.
func (s *textsWithoutSecrets) add(text string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.totalTextBytes+len(text) <= maxSearchedBytes {
		s.texts[text] = struct{}{}
		s.totalTextBytes += len(text)
	}
}

// This file makes entries from the custom instructions in the export of a chat service. These are texts that a person
// wrote for all conversations.

package imports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
)

// instructionSet contains different custom instructions, in the order in which they were found.
type instructionSet struct {
	all   []transcript.Instructions
	index map[instructionKey]int // indexes in all
}

type instructionKey struct {
	isAboutPerson bool
	text          string
}

// add adds custom instructions. If the set already contains instructions with the same text, add does not add them
// again. In this case, it sets the time of the stored instructions to i.Time if i.Time is earlier, or if the stored
// time is unknown (zero).
func (s *instructionSet) add(i transcript.Instructions) {
	key := instructionKey{i.IsAboutPerson, i.Text}
	if at, ok := s.index[key]; ok {
		known := &s.all[at]
		isEarlier := !i.Time.IsZero() && i.Time.Before(known.Time)
		if isEarlier || known.Time.IsZero() {
			known.Time = i.Time
		}
		return
	}
	if s.index == nil {
		s.index = map[instructionKey]int{}
	}
	s.index[key] = len(s.all)
	s.all = append(s.all, i)
}

// yieldItems yields an item for each text of the instructions that the person wrote for ChatGPT. The ID of an item is a
// hash of the text, so that importing a later ChatGPT export with the same text changes nothing.
func (s *instructionSet) yieldItems(_ context.Context, _ *time.Location) iter.Seq2[exchange.Item, error] {
	return func(yield func(exchange.Item, error) bool) {
		for _, i := range s.all {
			it := exchange.Item{Position: transcript.ChatGPT, Origin: transcript.ChatGPT}
			it.Entry.Name, it.ID = "How ChatGPT should answer me", "for-model/"
			if i.IsAboutPerson {
				it.Entry.Name, it.ID = "What I told ChatGPT about myself", "about-me/"
			}
			hash := sha256.Sum256([]byte(i.Text))
			it.ID += hex.EncodeToString(hash[:8])
			it.Entry.Content, it.Entry.Created = i.Text, i.Time
			it.Entry.Labels = []oxbow.Label{{Key: "type", Value: "custom-instructions"}}
			if !yield(it, nil) {
				return
			}
		}
	}
}

// importInstructions adds the custom instructions to the memory, and the result to out.
func (in *ImportIn) importInstructions(ctx context.Context, w *verb.Workspace, s instructionSet, out *ImportOut) error {
	got, err := transfer.Import(ctx, w, transfer.ImportIn{Items: s.yieldItems, OmitChanges: in.NoChangeList,
		ChangeNote: "import of custom instructions of ChatGPT"})
	out.ImportOut.Append(got)
	return err
}

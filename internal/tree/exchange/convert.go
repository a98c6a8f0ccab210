// Conversion: a whole memory is copied into a store of another layout.

package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// ConvertOptions change how a memory is converted.
type ConvertOptions struct {
	// Adapt makes an entry fit that the new store refuses: without its labels,
	// if none holds it back ([oxbow.Entry.Suspicious]), then without its aliases,
	// then as a note. What was left out is in the report. Without it such an entry
	// is only reported.
	Adapt bool
	// Progress, when it is not nil, is called now and then with the number of
	// entries done so far.
	Progress func(done int)
}

// ConvertReport says what became of the entries.
type ConvertReport struct {
	Entries int       // written
	Adapted []Adapted // of these, the ones that lost something
	Refused []Refused // not written
}

// Adapted is an entry that was made to fit.
type Adapted struct {
	Name string   `json:"name"`
	Lost []string `json:"lost"` // what it does not hold any more, such as "labels"
}

// Refused is an entry that the new store does not take.
type Refused struct {
	Name string `json:"name"`
	Err  error  `json:"-"`
	Why  string `json:"why"`
}

// convertBatch is how many entries share a change.
const convertBatch = 256

// Convert writes every entry of one store into another, in order of their IDs,
// with names, kinds, contents, aliases, labels and times of creation, without
// history and IDs. The error says what stopped it; what the new store refuses is
// in the report.
func Convert(ctx context.Context, from, to oxbow.Store, o *ConvertOptions) (ConvertReport, error) {
	if o == nil {
		o = new(ConvertOptions)
	}
	c := &converter{to: to, opts: *o}
	var batch []oxbow.Op
	flush := func() error {
		if err := c.write(ctx, batch); err != nil {
			return err
		}
		batch = batch[:0]
		if o.Progress != nil {
			o.Progress(c.rep.Entries + len(c.rep.Refused))
		}
		return nil
	}
	for e, err := range from.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return c.rep, fmt.Errorf("reading the old store: %w", err)
		}
		batch = append(batch, oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content,
			Aliases: slices.Clone(e.Aliases), Labels: slices.Clone(e.Labels), Created: e.Created})
		if len(batch) == convertBatch {
			if err := flush(); err != nil {
				return c.rep, err
			}
		}
	}
	err := flush()
	return c.rep, err
}

type converter struct {
	to   oxbow.Store
	opts ConvertOptions
	rep  ConvertReport
}

// refuses reports whether a store does not take an entry for what it is, rather
// than failing to write.
func refuses(err error) bool {
	return errors.Is(err, oxbow.ErrUnsupported) || errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrExists)
}

// write writes a batch in one change or, where one of it is refused, each
// alone.
func (c *converter) write(ctx context.Context, batch []oxbow.Op) error {
	if len(batch) == 0 {
		return nil
	}
	err := c.to.Apply(ctx, batch...)
	if err == nil {
		c.rep.Entries += len(batch)
		return nil
	}
	if !refuses(err) {
		return fmt.Errorf("writing the new store: %w", err)
	}
	for _, op := range batch {
		if err := c.writeOne(ctx, op.(oxbow.Add)); err != nil {
			return err
		}
	}
	return nil
}

func (c *converter) writeOne(ctx context.Context, add oxbow.Add) error {
	var lost []string
	for {
		err := c.to.Apply(ctx, add)
		if err == nil {
			c.rep.Entries++
			if len(lost) > 0 {
				c.rep.Adapted = append(c.rep.Adapted, Adapted{add.Name, lost})
			}
			return nil
		}
		if !refuses(err) {
			return fmt.Errorf("writing entry %q: %w", add.Name, err)
		}
		switch {
		case !c.opts.Adapt || errors.Is(err, oxbow.ErrExists):
		case len(add.Labels) > 0:
			if e := (oxbow.Entry{Labels: add.Labels}); e.Suspicious() {
				err = fmt.Errorf("%w: it is held back, which the layout has no place for", err)
				break
			}
			add.Labels, lost = nil, append(lost, "labels")
			continue
		case len(add.Aliases) > 0:
			add.Aliases, lost = nil, append(lost, "aliases")
			continue
		case add.Kind != oxbow.Note:
			lost = append(lost, "kind "+add.Kind.String())
			add.Kind = oxbow.Note
			continue
		}
		c.rep.Refused = append(c.rep.Refused, Refused{add.Name, err, reason(err)})
		return nil
	}
}

// reason returns what an error says, without the words that all refusals have.
func reason(err error) string {
	words := oxbow.ErrUnsupported.Error()
	return strings.TrimSuffix(strings.ReplaceAll(err.Error(), words+": ", ""), ": "+words)
}

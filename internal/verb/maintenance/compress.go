// A home is the directory of a memory, and its layout is the way in which entries are stored in its files. This file
// implements two verbs for homes whose layout is not oxbow's own layout. The verb "compress" shortens the files. The
// verb "decompress" restores them.

package maintenance

import (
	"cmp"
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// These errors are returned if the home's layout cannot be compressed, or if the caller sees only a part of the
// memory. They match [oxbow.ErrUnsupported].
var (
	ErrNoDailyLogs        = fmt.Errorf("compressing: %w: the memory is not laid out by days", oxbow.ErrUnsupported)
	ErrNoCompressibleFile = fmt.Errorf("compressing: %w: it has no file that is whole before the model and grows",
		oxbow.ErrUnsupported)
)

// CompressHomeIn is the argument of CompressHome. Two kinds of homes (a home is a memory's directory) can be
// compressed. MaxTokens is used for a home with a file that every model receives as a whole. All remaining fields are
// used for a home that stores its entries in a log for each day.
type CompressHomeIn struct {
	MaxTokens        *int     `json:"max_tokens,omitempty" usage:"At most so many tokens of the file that a model always receives."`
	PeriodLength     string   `json:"span,omitempty"       usage:"Length of the periods: week or month; the shortest by default."`
	PeriodName       string   `json:"period,omitempty"     usage:"A single period, such as 2026-W16; all that have ended by default."`
	DigestTexts      []string `json:"texts,omitempty"      usage:"Texts of the period's digest, one for each of the groups."`
	TextGroups       []string `json:"groups,omitempty"     usage:"Groups of the texts, in the same order, as a dry run names them; not needed for a digest with a single group." empty:"allowed"`
	LogByteThreshold int      `json:"over,omitempty"       usage:"Shorten only logs of more than so many bytes; 2000 by default, and with texts all logs."`
	DryRun           bool     `json:"dry_run,omitempty"    usage:"Show what would be done and change nothing."`
}

// CompressOut is the result of CompressHome and DecompressDigests.
type CompressOut struct {
	DryRun  bool          `json:"dry_run,omitempty"`
	Digests []verb.Digest `json:"digests"` // digests, each of which replaces the daily logs of a week or month
	// change of the file that every model receives as a whole (nil if the home has no such file)
	FileShortening *verb.Tidied `json:"tidied,omitempty"`
}

// CompressHome shortens the files of a home in another program's layout. It replaces old texts by shorter texts, which
// are called digests, or shortens a single file if in.MaxTokens is set. If the layout does not store texts by days, the
// error is [ErrNoDailyLogs]. If in.MaxTokens is set and the layout has no file that can be shortened, the error is
// [ErrNoCompressibleFile]. The same errors are returned if the caller sees only a part of the memory. If a later step
// fails, the result contains the digests that were made before.
func CompressHome(ctx context.Context, w *verb.Workspace, in CompressHomeIn) (out CompressOut, err error) {
	out = CompressOut{DryRun: in.DryRun, Digests: []verb.Digest{}}
	ctx = w.WithSource(ctx)
	if in.MaxTokens != nil {
		return compressFile(ctx, w, in, out)
	}
	if in.LogByteThreshold < 0 {
		return out, &oxbow.InvalidError{
			Field:  "over",
			Value:  fmt.Sprint(in.LogByteThreshold),
			Reason: "is less than 1 byte",
		}
	}
	c, err := compressor(w, verb.Write.UnlessDryRun(in.DryRun))
	if err != nil {
		return out, err
	}
	r := verb.Compression{Span: in.PeriodLength, Period: in.PeriodName, Over: in.LogByteThreshold, Dry: in.DryRun}
	if r.Span == "" {
		r.Span = c.Spans()[0]
	}
	r.Texts, err = textsByDigestGroup(ctx, c, r, in)
	if err != nil {
		return out, err
	}
	digests, err := c.Compress(ctx, r)
	out.Digests = append(out.Digests, digests...)
	return out, err
}

// textsByDigestGroup returns the text that the caller passed for each part of a digest. The keys are the groups of the
// parts. If the caller passed a single text and no group, the digest must have only one part, which gets the text. If
// the caller passed neither texts nor groups, the result is nil. If the numbers of texts and groups differ, or if a
// group is named twice, textsByDigestGroup returns an error.
func textsByDigestGroup(
	ctx context.Context,
	c verb.Compressor,
	r verb.Compression,
	in CompressHomeIn,
) (map[string]string, error) {
	groups := in.TextGroups
	switch {
	case len(in.DigestTexts) == 0 && len(groups) == 0:
		return nil, nil
	case r.Period == "":
		return nil, &oxbow.InvalidError{Field: "texts", Reason: "are for one period; say which"}
	case len(groups) == 0 && len(in.DigestTexts) == 1:
		r.Dry = true
		// Find the groups of the digest in a dry run. The caller passed the digest's text, so include logs of any
		// length. By default, short logs are skipped.
		r.Over = cmp.Or(r.Over, 1)
		would, err := c.Compress(ctx, r)
		if err != nil {
			return nil, err
		}
		for _, d := range would {
			for _, p := range d.Parts {
				groups = append(groups, p.Group)
			}
		}
	}
	if len(groups) != len(in.DigestTexts) {
		return nil, &oxbow.InvalidError{Field: "groups", Reason: fmt.Sprintf(
			"are %d and texts are %d; give a text for each of these groups: %q",
			len(groups),
			len(in.DigestTexts),
			groups,
		)}
	}
	texts := map[string]string{}
	for i, group := range groups {
		if _, isTwice := texts[group]; isTwice {
			return nil, &oxbow.InvalidError{Field: "groups", Value: group, Reason: "is given twice"}
		}
		texts[group] = in.DigestTexts[i]
	}
	return texts, nil
}

// compressFile shortens the memory's file that a model always receives. The file then has at most *in.MaxTokens tokens.
// compressFile returns ErrNoCompressibleFile if the home has no such file.
func compressFile(ctx context.Context, w *verb.Workspace, in CompressHomeIn, out CompressOut) (CompressOut, error) {
	hasOthers := in.PeriodLength != "" || in.PeriodName != "" || in.LogByteThreshold != 0 ||
		len(in.DigestTexts)+len(in.TextGroups) > 0
	switch {
	case hasOthers:
		return out, &oxbow.InvalidError{
			Field:  "max_tokens",
			Reason: "is for the file that a model always receives, and the other arguments are for days",
		}
	case *in.MaxTokens < 1:
		return out, &oxbow.InvalidError{
			Field:  "max_tokens",
			Value:  fmt.Sprint(*in.MaxTokens),
			Reason: "is less than 1 token",
		}
	}
	home, ok, err := w.Tidier(verb.Write.UnlessDryRun(in.DryRun))
	if err != nil {
		return out, err
	}
	if !ok {
		return out, ErrNoCompressibleFile
	}
	did, err := home.Compress(ctx, *in.MaxTokens, in.DryRun)
	if err != nil {
		return out, err
	}
	did.Steps = append([]verb.Step{}, did.Steps...)
	out.FileShortening = &did
	return out, nil
}

// DecompressDigestsIn is the argument of DecompressDigests.
type DecompressDigestsIn struct {
	DigestNames []string `json:"names"             usage:"Names of the digests to take back, such as week-2026-W16."`
	DryRun      bool     `json:"dry_run,omitempty" usage:"Show what would be taken back and change nothing."`
}

// DecompressDigests removes digests and restores the logs that they replaced. If it fails, the result contains the
// digests that were removed before.
func DecompressDigests(ctx context.Context, w *verb.Workspace, in DecompressDigestsIn) (CompressOut, error) {
	out := CompressOut{DryRun: in.DryRun, Digests: []verb.Digest{}}
	c, err := compressor(w, verb.Write.UnlessDryRun(in.DryRun))
	if err != nil {
		return out, err
	}
	digests, err := c.Decompress(w.WithSource(ctx), in.DryRun, in.DigestNames...)
	out.Digests = append(out.Digests, digests...)
	return out, err
}

func compressor(w *verb.Workspace, access verb.MemoryAccess) (verb.Compressor, error) {
	c, ok, err := w.Compressor(access)
	if err == nil && !ok {
		err = ErrNoDailyLogs
	}
	return c, err
}

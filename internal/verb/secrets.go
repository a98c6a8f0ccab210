// This file handles secrets in texts that are stored. An agent's secrets are replaced. A person's text is refused,
// unless the person allows secrets.

package verb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
)

// SecretError means that a person's text was refused because it seems to contain a secret. The error does not contain
// the secret.
type SecretError struct {
	Rule      string // name of the rule that recognized the secret
	EntryPart string // part of the entry that contains the secret, for example "content"
	Line      int    // number of the line within EntryPart, counted from 1
}

func (e *SecretError) Error() string {
	return fmt.Sprintf("line %d of the %s looks like a secret (%s)", e.Line, e.EntryPart, e.Rule)
}

// Is reports whether target is [oxbow.ErrInvalid], which each SecretError matches.
func (e *SecretError) Is(target error) bool { return target == oxbow.ErrInvalid }

// SecretPolicy decides how secrets in changes are treated. The zero value replaces secrets in texts that agents write.
// It replaces them by marks without tags. A tag is a value by which equal secrets can be recognized. All calls of an
// interface share one policy.
type SecretPolicy struct {
	Cleaner           *screen.SecretCleaner
	AreSecretsAllowed func() bool // reports whether a person has allowed storing secrets (nil means that nobody has)
}

// checkSecretPermission reports whether a person makes the call, and whether that person has allowed storing secrets.
func (s *SecretPolicy) checkSecretPermission(ctx context.Context) (isPerson, mayKeep bool) {
	src, _ := oxbow.SourceFrom(ctx)
	isPerson = src.Actor == oxbow.Person
	return isPerson, isPerson && s.AreSecretsAllowed != nil && s.AreSecretsAllowed()
}

// ScreenText returns the argument text with its secrets replaced, and appends the replaced secrets to *found. The text
// of a person is not changed. If it contains a secret, the error is a [SecretError] with the argument part, which names
// the part of the entry. If the person has allowed secrets, ScreenText returns the text without searching it.
func (s *SecretPolicy) ScreenText(ctx context.Context, part, text string, found *[]screen.Secret) (string, error) {
	person, keep := s.checkSecretPermission(ctx)
	if keep {
		return text, nil
	}
	if !person {
		return s.RedactText(ctx, text, found), nil
	}
	searched := contextTextsWithoutSecrets(ctx)
	if searched.contains(text) {
		return text, nil
	}
	if fs := screen.FindSecrets(text); fs != nil {
		return "", &SecretError{fs[0].Rule, part, 1 + strings.Count(text[:fs[0].Start], "\n")}
	}
	searched.add(text)
	return text, nil
}

// ScreenTexts searches texts for secrets before a verb writes the texts to a file, such as a profile, and not to an
// entry. If the caller is not a person, ScreenTexts replaces the secrets in the texts and returns the replaced secrets.
// If the caller is a person, ScreenTexts does not change the texts. Instead it returns a [SecretError] that contains
// partName if a text contains a secret. If a person has allowed secrets, the texts are not searched.
func (s *SecretPolicy) ScreenTexts(
	ctx context.Context,
	partName string,
	texts ...*string,
) (found []screen.Secret, err error) {
	for _, t := range texts {
		*t, err = s.ScreenText(ctx, partName, *t, &found)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// ScreenEntry calls ScreenText for all texts of the entry e: content, name, aliases and label values. It returns a copy
// of the entry with the new texts. A text that the old version of the entry also contains is not searched, so that a
// change of a label does not change the rest of the entry.
//
// If no name was chosen for an entry, its name is made from the beginning of the content. Such a name may contain only
// the first part of a secret, because the name ends in the middle of the secret. ScreenEntry removes this part of the
// secret from a new name.
func (s *SecretPolicy) ScreenEntry(
	ctx context.Context,
	e, old oxbow.Entry,
	foundSecrets *[]screen.Secret,
) (oxbow.Entry, error) {
	e = e.Clone()
	clean := func(part string, t *string, had ...string) (err error) {
		if !slices.Contains(had, *t) {
			*t, err = s.ScreenText(ctx, part, *t, foundSecrets)
		}
		return err
	}
	written := e.Content
	contentErr := clean("content", &e.Content, old.Content)
	hasSecret := contentErr != nil || e.Content != written
	isNewName := e.Name != "" && e.Name != old.Name
	if isNewName && hasSecret {
		e.Name = redactTruncatedSecret(e.Name, written)
	}
	err := errors.Join(clean("name", &e.Name, old.Name), contentErr)
	for i := range e.Aliases {
		err = errors.Join(err, clean("aliases", &e.Aliases[i], old.Aliases...))
	}
	var labels []string
	for _, l := range old.Labels {
		labels = append(labels, l.Value)
	}
	for i := range e.Labels {
		err = errors.Join(err, clean("labels", &e.Labels[i].Value, labels...))
	}
	if err == nil {
		err = s.replaceSecretsAcrossTexts(ctx, entryTextsToScreen(&e), foundSecrets)
	}
	return e, err
}

// entryTextsToScreen returns pointers to all texts of an entry that are searched for secrets: the name, the content,
// the aliases, and the label values.
func entryTextsToScreen(e *oxbow.Entry) []*string {
	texts := []*string{&e.Name, &e.Content}
	for i := range e.Aliases {
		texts = append(texts, &e.Aliases[i])
	}
	for i := range e.Labels {
		texts = append(texts, &e.Labels[i].Value)
	}
	return texts
}

// replaceSecretsAcrossTexts replaces secrets that begin in one of the texts and end in another, and adds the replaced
// parts to foundSecrets. If a person wrote the texts, it returns a [SecretError] instead. If secrets are allowed, it
// does nothing.
func (s *SecretPolicy) replaceSecretsAcrossTexts(
	ctx context.Context,
	texts []*string,
	foundSecrets *[]screen.Secret,
) error {
	person, keep := s.checkSecretPermission(ctx)
	if keep {
		return nil
	}
	var values []string
	for _, t := range texts {
		values = append(values, *t)
	}
	for i, pieces := range screen.FindSecretsAcrossTexts(values...) {
		if pieces == nil {
			continue
		}
		if person {
			return &SecretError{pieces[0].Rule, "text that two fields form together", 1}
		}
		*texts[i] = s.Cleaner.ReplaceSecrets(*texts[i], pieces)
		*foundSecrets = append(*foundSecrets, pieces...)
	}
	return nil
}

// FoundSecret says where a secret was found.
type FoundSecret struct {
	Name    string `json:"name"` // name of the entry; if the name itself contains secrets, they are replaced
	Version uint64 `json:"version"`
	// the current version of the entry contains the secret, and not only the history
	IsInCurrentVersion bool   `json:"current"`
	IsInArchive        bool   `json:"archive,omitempty"`
	Rule               string `json:"rule"`
	// TextKind is the kind of text that contains the secret. In an entry it is "name", "content", "alias" or "label".
	// In a text that hooks have shown to a model it is "packed". In a change (see Version) it is "note" or "source". In
	// a file of the home it is "profile" or "file".
	TextKind string `json:"part"`
	Line     int    `json:"line,omitempty"` // number of the line in the content or file, counted from 1
}

// FindTextSecrets returns the secrets in a text. textKind is the kind of text, for the field TextKind of the results.
// The field Line is set only if the text is a content, a profile or a file.
func FindTextSecrets(textKind, text string) (foundSecrets []FoundSecret) {
	hasLines := slices.Contains([]string{"content", "profile", "file"}, textKind)
	for _, f := range screen.FindSecrets(text) {
		s := FoundSecret{Rule: f.Rule, TextKind: textKind}
		if hasLines {
			s.Line = 1 + strings.Count(text[:f.Start], "\n")
		}
		foundSecrets = append(foundSecrets, s)
	}
	return foundSecrets
}

// FindSourceSecrets returns the secrets in a source's texts, such as the path of an imported file.
func FindSourceSecrets(src oxbow.Source) (foundSecrets []FoundSecret) {
	for _, text := range []string{src.Session, src.Profile, src.Ref, src.Claimed.Client, src.Claimed.Agent} {
		foundSecrets = append(foundSecrets, FindTextSecrets("source", text)...)
	}
	return foundSecrets
}

// FindEntrySecrets returns the secrets in all texts of an entry.
func FindEntrySecrets(e oxbow.Entry) (found []FoundSecret) {
	look := func(part, text string) { found = append(found, FindTextSecrets(part, text)...) }
	look("name", e.Name)
	look("content", e.Content)
	for _, t := range session.ReadCompressedTexts(e.Content) {
		look("packed", t)
	}
	for _, a := range e.Aliases {
		look("alias", a)
	}
	for _, l := range e.Labels {
		look("label", l.Value)
	}
	var texts []string
	for _, t := range entryTextsToScreen(&e) {
		texts = append(texts, *t)
	}
	for _, pieces := range screen.FindSecretsAcrossTexts(texts...) {
		for _, p := range pieces {
			found = append(found, FoundSecret{Rule: p.Rule, TextKind: "divided"})
		}
	}
	return found
}

// minSecretPrefixBytes is a length in bytes. If a name ends with the beginning of a secret, and if this beginning has
// at least minSecretPrefixBytes bytes, the end of the name is replaced.
const minSecretPrefixBytes = 8

// redactTruncatedSecret replaces a truncated secret at the end of a name. Such names occur because a name is made from
// the content's first line and shortened, which can cut off the rest of a secret. redactTruncatedSecret finds the
// truncated secret because the content contains the whole secret.
func redactTruncatedSecret(name, content string) string {
	if begun := strings.TrimSuffix(name, "…"); len(begun) < minSecretPrefixBytes ||
		!strings.Contains(content, begun[len(begun)-minSecretPrefixBytes:]) {
		// The name does not end with a piece of the content. Return at once, because searching the content for secrets
		// is slow.
		return name
	}
	for _, f := range screen.FindSecrets(content) {
		whole := content[f.Start:f.End]
		if strings.Contains(name, whole) {
			continue
		}
		for n := len(whole) - 1; n >= minSecretPrefixBytes; n-- {
			if cut, ok := strings.CutSuffix(strings.TrimSuffix(name, "…"), whole[:n]); ok {
				return strings.TrimSpace(cut + "[redacted: " + f.Rule + "]")
			}
		}
	}
	return name
}

// ScreenOp screens the texts that the op writes, as [SecretPolicy.ScreenEntry] does, and returns the op to be stored.
// If a secret is found, ScreenOp reads the old version of the entry from the store, because a text that the old version
// also contains is not changed. Texts that were marked by [SecretPolicy.MarkTextsAsScreened] are not searched again.
func (s *SecretPolicy) ScreenOp(ctx context.Context, store oxbow.Store, op oxbow.Op) (oxbow.Op, error) {
	isScreened := ctx.Value(screenedTextsContextKey{}) == s.Cleaner
	var e oxbow.Entry
	switch o := op.(type) {
	case oxbow.Add:
		if isScreened {
			return op, nil
		}
		e = oxbow.Entry{Name: o.Name, Content: o.Content, Aliases: o.Aliases, Labels: o.Labels}
	case oxbow.Update:
		e = oxbow.Entry{Content: o.Content, Aliases: o.Aliases, Labels: o.Labels}
	case oxbow.Alias:
		e = oxbow.Entry{Aliases: o.Aliases}
	case oxbow.Relabel:
		e = oxbow.Entry{Labels: o.Labels}
	default:
		return op, nil
	}
	var found []screen.Secret
	var had oxbow.Entry
	if isScreened {
		had.Content = e.Content
	}
	clean, err := s.ScreenEntry(ctx, e, had, &found)
	if err == nil && found == nil {
		return op, nil
	}
	if _, adds := op.(oxbow.Add); !adds {
		old, gerr := store.Get(ctx, op.Target())
		if gerr != nil && !errors.Is(gerr, oxbow.ErrNotFound) {
			return nil, gerr
		}
		clean, err = s.ScreenEntry(ctx, e, old, &found)
	}
	if err != nil {
		return nil, err
	}
	switch o := op.(type) {
	case oxbow.Add:
		o.Name = clean.Name
		o.Content = clean.Content
		o.Aliases = clean.Aliases
		o.Labels = clean.Labels
		return o, nil
	case oxbow.Update:
		o.Content = clean.Content
		o.Aliases = clean.Aliases
		o.Labels = clean.Labels
		return o, nil
	case oxbow.Alias:
		o.Aliases = clean.Aliases
		return o, nil
	case oxbow.Relabel:
		o.Labels = clean.Labels
		return o, nil
	}
	return op, nil
}

// redactArguments replaces the secrets in the arguments of a call by an agent. The list texts contains pointers to
// arguments that are strings, and the list lists contains pointers to arguments that are lists of strings. The result
// contains a note if secrets were replaced. If the caller is a person, redactArguments changes nothing, because a
// person's texts are checked when they are written to the memory. The caller must call redactArguments before it
// derives a name from the arguments, so that the name contains no secret.
func (s *SecretPolicy) redactArguments(ctx context.Context, texts []*string, lists []*[]string) []Note {
	if person, _ := s.checkSecretPermission(ctx); person {
		return nil
	}
	var found []screen.Secret
	redact := func(t *string) { *t = s.RedactText(ctx, *t, &found) }
	for _, t := range texts {
		redact(t)
	}
	for _, ts := range lists {
		*ts = slices.Clone(*ts)
		for i := range *ts {
			redact(&(*ts)[i])
		}
	}
	if found == nil {
		return nil
	}
	return []Note{PlainNote(DescribeReplacedSecrets(found))}
}

// RedactText returns the text with its secrets replaced, and appends the secrets to found. Texts without secrets are
// remembered in ctx, so that each such text is searched only once for a call of a verb.
func (s *SecretPolicy) RedactText(ctx context.Context, text string, found *[]screen.Secret) string {
	searched := contextTextsWithoutSecrets(ctx)
	if text == "" || searched.contains(text) {
		return text
	}
	clean, fs := s.Cleaner.Clean(text)
	if fs == nil {
		searched.add(text)
	}
	*found = append(*found, fs...)
	return clean
}

// screenedTextsContextKey is the key of a context value that MarkTextsAsScreened sets. The value is the object that
// searched the texts for secrets.
type screenedTextsContextKey struct{}

// MarkTextsAsScreened returns a context for changes whose texts were already searched for secrets, such as the items of
// an import. If a change uses this context, the entries that it adds and the contents that it writes are not searched
// again.
func (s *SecretPolicy) MarkTextsAsScreened(ctx context.Context) context.Context {
	return context.WithValue(ctx, screenedTextsContextKey{}, s.Cleaner)
}

// DescribeReplacedSecrets returns a sentence that names the rules by which secrets were recognized and replaced. It
// returns "" if foundSecrets is empty.
func DescribeReplacedSecrets(foundSecrets []screen.Secret) string {
	var rules []string
	for _, f := range foundSecrets {
		if !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	if rules == nil {
		return ""
	}
	return fmt.Sprintf("what looked like a secret was replaced before it was written (%s)", strings.Join(rules, ", "))
}

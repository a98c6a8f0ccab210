// This file converts topics to file names. A topic is the subject of a fact about the world, such as "people".

package duragent

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow"
)

// isTopicRune reports whether a topic can contain the character: a letter or a digit of any script, or a mark that
// modifies a letter.
func isTopicRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Other_Alphabetic, r)
}

// topicSlug returns the file name of a topic as duragent's documentation describes it: letters and digits in lower
// case, with a dash for each other character.
func topicSlug(topic string) string {
	return strings.Map(func(r rune) rune {
		if isTopicRune(r) {
			return unicode.ToLower(r)
		}
		return '-'
	}, topic)
}

// duragentTopicSlug returns the file name (without an extension) that duragent's own code makes from a topic. Files
// that duragent made have such names. Letters, digits, dashes and underscores are kept, except that A to Z become lower
// case. Letters outside of A to Z do not become lower case. Each other character is replaced by a dash.
func duragentTopicSlug(topic string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		case isTopicRune(r), r == '-', r == '_':
			return r
		}
		return '-'
	}, topic)
}

// checkTopic returns an error if a topic lacks letters and digits or is too long for a file name.
func checkTopic(topic string) error {
	refuse := func(reason string) error {
		return &oxbow.InvalidError{Field: "topic", Value: topic, Reason: reason}
	}
	switch {
	case !strings.ContainsFunc(topic, isTopicRune):
		return refuse("holds no letter or digit; name what the facts are about, such as people")
	case len(topic) > maxTopicBytes:
		return refuse(fmt.Sprintf("has %d bytes; the most is %d", len(topic), maxTopicBytes))
	}
	return nil
}

// normalizeTopic returns a topic in lower case and with dashes for white space, so that topics can be compared.
func normalizeTopic(topic string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '-'
		}
		return unicode.ToLower(r)
	}, topic)
}

// chooseTopicName returns the name of the entry for a topic. An entry for the same topic may exist under another
// spelling of the topic, such as the spelling that duragent itself would choose. In this case, chooseTopicName returns
// the name of the existing entry. Otherwise it returns topicSlug(topic).
//
// Different topics may have the same topicSlug. If an entry with the name topicSlug(topic) exists and may belong to
// another topic, chooseTopicName returns an error, because the new text must not replace that entry.
func chooseTopicName(topic string, exists func(name string) (bool, error)) (string, error) {
	topic = strings.TrimSpace(topic)
	if err := checkTopic(topic); err != nil {
		return "", err
	}
	name := topicSlug(topic)
	if err := checkTopic(name); err != nil {
		return "", err // The lower-case name failed the check that the topic passed, because it may have more bytes.
	}
	for _, stem := range []string{topic, strings.ToLower(topic), duragentTopicSlug(topic)} {
		own := factName(stem)
		if own == name || oxbow.CheckName(own) != nil {
			continue
		}
		if normalizeTopic(stem) != normalizeTopic(topic) {
			continue
		}
		if ok, err := exists(own); err != nil || ok {
			return own, err
		}
	}
	if normalizeTopic(topic) == name {
		return name, nil
	}
	ok, err := exists(name)
	if err != nil {
		return "", err
	}
	if ok {
		return "", &oxbow.InvalidError{
			Field: "topic",
			Value: topic,
			Reason: fmt.Sprintf(
				"would be kept as %q, and a topic of that name is there already; to replace it, give %q, and to keep "+
					"both, choose another topic",
				name,
				name,
			),
		}
	}
	return name, nil
}

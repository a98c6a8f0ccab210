// This file makes file names from topics.

package duragent

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow"
)

// isTopicRune reports whether a topic may contain the character: a letter or digit in any script, or a
// sign that modifies a letter.
func isTopicRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Other_Alphabetic, r)
}

// topicSlug returns the file name of a topic, as duragent's documentation describes it: letters and digits in lower
// case, and a dash for each other character.
func topicSlug(topic string) string {
	return strings.Map(func(r rune) rune {
		if isTopicRune(r) {
			return unicode.ToLower(r)
		}
		return '-'
	}, topic)
}

// oldTopicSlug returns the file name that duragent's own code makes for a topic: it keeps underscores and converts
// only A to Z to lower case. Files made by duragent have such names.
func oldTopicSlug(topic string) string {
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

// checkTopic returns an error for a topic without letters and digits, and for a topic that is too
// long for a file name.
func checkTopic(topic string) error {
	refuse := func(reason string) error {
		return &oxbow.InvalidError{Field: "topic", Value: topic, Reason: reason}
	}
	switch {
	case !strings.ContainsFunc(topic, isTopicRune):
		return refuse("holds no letter or digit; name what the facts are about, such as people")
	case len(topic) > maxTopic:
		return refuse(fmt.Sprintf("has %d bytes; the most is %d", len(topic), maxTopic))
	}
	return nil
}

// normalizeTopic returns a topic in a form for comparisons: in lower case, and with dashes instead of white
// space.
func normalizeTopic(topic string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '-'
		}
		return unicode.ToLower(r)
	}, topic)
}

// chooseTopic returns the entry name for a topic. If a file for the topic exists, this is the name
// of its entry, otherwise the name from topicSlug. If a different topic already has that name,
// chooseTopic returns an error, because a fact must not replace another fact with a similar name.
func chooseTopic(topic string, exists func(name string) (bool, error)) (string, error) {
	topic = strings.TrimSpace(topic)
	if err := checkTopic(topic); err != nil {
		return "", err
	}
	name := topicSlug(topic)
	if err := checkTopic(name); err != nil {
		return "", err // check the length again, because the lower-case form may have more bytes
	}
	for _, stem := range []string{topic, strings.ToLower(topic), oldTopicSlug(topic)} {
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

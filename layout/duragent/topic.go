// The name of the file of a topic.

package duragent

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow"
)

// isWord reports whether a character stays in a topic: a letter or a digit of
// any script, and the signs that make a letter's sound in some.
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Other_Alphabetic, r)
}

// topicOf writes a topic as the design does: letters and digits in lower case,
// and a dash for each other character.
func topicOf(topic string) string {
	return strings.Map(func(r rune) rune {
		if isWord(r) {
			return unicode.ToLower(r)
		}
		return '-'
	}, topic)
}

// oldTopicOf writes a topic as duragent's own code does: it keeps underscores,
// and lowers only A to Z. Files that it made bear such names.
func oldTopicOf(topic string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		case isWord(r), r == '-', r == '_':
			return r
		}
		return '-'
	}, topic)
}

// checkTopic refuses a topic that tells nothing or is too long for a file.
func checkTopic(topic string) error {
	refuse := func(reason string) error {
		return &oxbow.InvalidError{Field: "topic", Value: topic, Reason: reason}
	}
	switch {
	case !strings.ContainsFunc(topic, isWord):
		return refuse("holds no letter or digit; name what the facts are about, such as people")
	case len(topic) > maxTopic:
		return refuse(fmt.Sprintf("has %d bytes; the most is %d", len(topic), maxTopic))
	}
	return nil
}

// plain writes what does not tell topics apart in one way: letters in lower
// case, white space as dashes.
func plain(topic string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '-'
		}
		return unicode.ToLower(r)
	}, topic)
}

// chooseTopic returns the name of the entry that a topic is kept under: that of
// the file that it has already, if it has one, else the one that the design
// gives it. Where that is the name of another topic, it is refused: a fact
// must not replace another that happens to be written alike.
func chooseTopic(topic string, exists func(name string) (bool, error)) (string, error) {
	topic = strings.TrimSpace(topic)
	if err := checkTopic(topic); err != nil {
		return "", err
	}
	name := topicOf(topic)
	if err := checkTopic(name); err != nil {
		return "", err // lower case may have more bytes
	}
	for _, stem := range []string{topic, strings.ToLower(topic), oldTopicOf(topic)} {
		own := factName(stem)
		if own == name || oxbow.CheckName(own) != nil || plain(stem) != plain(topic) {
			continue
		}
		if ok, err := exists(own); err != nil || ok {
			return own, err
		}
	}
	if plain(topic) == name {
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

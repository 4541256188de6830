"""The lorem-ipsum text from which the paper's insertions are cut (task 3).

What matters to token metrics is how many different tokens the beginning of that text holds:
Jaccard sees nothing else. Of the first 100, 200, 300, 500, 2,000, 6,000 cl100k tokens of the
authors' text, 76, 133, 167, 224, 361, 429 are different. This one, drawn from the classical
vocabulary, has 75, 132, 168, 222, 360, 430.
"""

from functools import cache

import numpy as np

VOCABULARY = """
a ac accumsan adipiscing aenean aliquam aliquet amet ante arcu at auctor augue bibendum blandit
commodo condimentum congue consectetur consequat convallis cras cum curabitur cursus dapibus diam
dictum dictumst dignissim dis dolor donec dui duis egestas eget eleifend elementum elit enim erat
eros est et etiam eu euismod facilisi facilisis fames faucibus felis fermentum feugiat fringilla
fusce gravida habitant habitasse hac hendrerit iaculis id imperdiet in integer interdum ipsum
justo lacinia lacus laoreet lectus leo libero lobortis lorem luctus maecenas magna magnis
malesuada massa mattis mauris metus mi molestie mollis montes morbi mus nam nascetur natoque nec
neque netus nibh nisi nisl non nulla nullam nunc odio orci ornare parturient pellentesque
penatibus pharetra phasellus placerat platea porta porttitor posuere potenti praesent pretium
proin pulvinar purus quam quis quisque rhoncus ridiculus risus rutrum sagittis sapien scelerisque
sed sem semper senectus sit sociis sodales sollicitudin suscipit suspendisse tellus tempor tempus
tincidunt tortor tristique turpis ullamcorper ultrices ultricies urna ut varius vehicula vel velit
venenatis vestibulum vitae vivamus viverra volutpat vulputate
"""
OPENING = (
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut "
    "labore et dolore magna aliqua."
)
_SEED = 941  # of 0 to 1999, the one with counts nearest to the authors'
_SENTENCES = 1600  # of 4 to 12 words: about 13,000 words


@cache
def lorem_text() -> str:
    """About 13,000 words in paragraphs of 14 sentences, plain ASCII, always the same."""
    words = VOCABULARY.split()
    generator = np.random.Generator(np.random.PCG64(_SEED))
    # A word's frequency falls with the square root of its rank; ranks are drawn.
    weights = 1 / np.sqrt(generator.permutation(len(words)) + 1)
    lengths = generator.integers(4, 13, _SENTENCES)
    drawn = generator.choice(len(words), lengths.sum(), p=weights / weights.sum())
    drawn_sentences = (
        " ".join(words[index] for index in indexes).capitalize() + "."
        for indexes in np.split(drawn, lengths.cumsum()[:-1])
    )
    sentences = [OPENING, *drawn_sentences]
    return "\n\n".join(
        " ".join(sentences[start : start + 14]) for start in range(0, len(sentences), 14)
    )

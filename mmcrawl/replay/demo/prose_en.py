"""What the demo web says in English when it does not teach physics; the form is as in Chinese."""

__all__ = ["NAMES", "PLACES", "PROSE"]

NAMES = ("Alice Morgan", "Ben Carter", "Clara Hughes", "Daniel Price", "Erin Walsh", "Frank Osei")
PLACES = ("Ashford", "Bramley", "Corfe", "Dunmore", "Elmswell", "Fairlea", "Harbour Street")

PROSE = """
blog
How we moved this site to a new server|Reading list for {year}|A week in {place}|Office plants
Notes from the {place} teachers' meeting|Why our newsletter changed its name|Thank you, {name}
We spent the weekend copying files from the old machine, and only one cable was lost.
The new theme is lighter, prints better, and no longer blinks.
{name} wrote to say that the contact form had been broken since March; it is mended now.
On the train to {place} I read half of a novel about lighthouses and slept through the rest.
The newsletter goes out on the first Monday of the month to {n} hundred readers.
Our coffee machine has been replaced, after a short debate, by an identical one.
If you would like to write for us, send a paragraph about yourself to the editors.
Comments are open for two weeks and then close, because of the robots.
The photographs are by {name}, who walked around {place} before breakfast.
We compared {n} notebooks and bought the cheapest one.
Old posts keep their addresses, and broken links are our fault: please report them.
In {year} we plan to tidy the archive and to answer letters within a week.

about
About us|People|Contact|Terms of use|Privacy|Help and questions
We are a small group of teachers and volunteers who share what we make.
{name} looks after the web pages, and {name} answers the mail.
Our office is on the second floor of the old library in {place}.
Material may be copied for teaching as long as the source is named.
We do not use cookies except the one that remembers your language.
Visitors are welcome on Tuesdays; please ring twice, the bell is old.
The site began in {year} as a folder on a borrowed computer.

library
Catalogue news|Special collections|Recordings and tapes|Opening hours|The {place} bequest
The reading room opens at nine and closes when {name} has found her keys.
Boxes from the {place} bequest are being sorted, and a list will follow.
Recordings on tape are transferred one afternoon a week, oldest first.
Please order items from the store a day ahead, on the green form.
A grant in {year} paid for new shelves and for a ladder that does not wobble.
The catalogue lists {n} thousand entries, most of them by title only.
Scanned index cards can be browsed drawer by drawer.

music
Top {n} singles of the week|{name}: Blue Harbour|Live from {place}|Summer mixtape {year}|New: {name}
The chorus arrives late, stays long, and is impossible to forget.
{name} recorded the album in a barn near {place} with two borrowed guitars.
This week's chart opens with a ballad and ends with a dance remix.
The band tours in autumn; tickets for {place} go on sale on Friday.
Press play to hear the single, or buy the whole album for {n} coins.
Handclaps, a cheap organ and a singer who means every word: pop at its best.
Fans waited four hours in the rain at {place} and sang along to everything.
The remix adds strings and takes away the bridge, which is a pity.
Lyrics are printed in the booklet together with drawings by {name}.

games
Snake, level {n}|Marble Pop {n}|Farm of {place}: walkthrough|Pirate cards|High scores {year}
Use the arrow keys to steer and the space bar to jump over the fence.
The key to level {n} is under the barrel behind the windmill.
Match {n} marbles of one colour and the row disappears with a bell.
This week's highest score belongs to {name} from {place}.
If the game does not start, reload the page and allow the plug-in.
Players who liked this one also tried the pirate card game.
Seeds planted at night are ready for harvest before breakfast.
"""

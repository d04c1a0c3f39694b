"""Words that say how a sentence is built, not what it is about, in English and the larger languages around it."""

# English, German, French, then Spanish with Portuguese and Italian, and Dutch. Words that mean something in another of
# these languages (`die`, `comment`, `sol`) are left out. What apostrophes leave of English contractions is here too.
STOP_WORDS = """
a about after all also am an and any are as at be because been before being but by can could d did do does doing don
each for from had has have having he her here him his how i if in into is it its ll m me more most my no not of on or
other our out re s shall she should so some such t than that the their them then there these they this those through
to too up ve very was we were what when where which while who whom whose why will with would you your
auf aus bei das dem den der des durch ein eine einem einen einer eines für ich im ist mit nach nicht oder sich sind
und vom von wann warum welche welcher welches wenn wer werden wie wird wo zu zum zur über
au aux avec ce ces cette dans de du elle en est et il ils la le les leur ne nous ou où par pas pourquoi qu quand que
quel quelle quelles quels qui sont sur un une vous
al como cómo con cual cuál cuáles cuando cuándo cuánto cuántos da del della di dos dónde el em es esta está fue las lo
los nel não os para per por qual quando que qué quién quiénes se si su sus são um uma una uno y
een het hoe ik niet ook op van voor waar wat welke zijn
"""

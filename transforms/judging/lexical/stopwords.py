"""Function words of a few languages: they carry no claim, and they tell languages apart."""

from types import MappingProxyType


def word_list(text: str) -> tuple[str, ...]:
    """The words of a list that is written as text."""
    return tuple(text.split())


STOPWORDS: MappingProxyType[str, frozenset[str]] = MappingProxyType(
    {
        "en": frozenset(
            word_list(
                """a about above after again all also although am an and another any are as at be because been before
                being below between both but by can cannot could did do does doing down during each either else etc
                ever few for from further had has have having he hence her here hers herself him himself his how
                however i if in into is it its itself just let like may me might more most much must my myself
                neither no nor not of off on once one only onto or other our ours out over own per quite rather
                really same shall she should since so some such than that the their theirs them themselves then
                there therefore these they this those though through thus to too under until up upon us very via was
                we well were what when where whether which while who whom whose why will with within without would
                yes yet you your yours yourself don't doesn't didn't isn't aren't wasn't weren't can't couldn't
                won't wouldn't shouldn't hasn't haven't hadn't i'm i've i'd i'll you're you've it's he's she's
                that's there's they're we're we've what's who's let's im dont yeah yea yep yup ok okay oh hi hello
                hey wow lol haha hmm thats whats"""
            )
        ),
        "de": frozenset(
            word_list(
                """aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis da dabei damit dann
                das dass dein dem den denn der des dessen dich die dies diese diesem diesen dieser dieses dir doch
                dort du durch ein eine einem einen einer eines er es etwa etwas euch euer für gegen gibt habe haben
                hat hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem
                jeden jeder jedes kann kein keine keinem keinen keiner können man mehr mein mich mir mit muss nach
                nicht noch nun nur ob oder ohne sehr seid sein seine seinem seinen seiner selbst sich sie sind so
                sondern sowie über um und uns unser unter viel vom von vor war waren warum was weil welche welchem
                welchen welcher welches wenn wer werden wie wieder will wir wird wo wurde wurden zu zum zur zwischen"""
            )
        ),
        "fr": frozenset(
            word_list(
                """à afin ai ainsi alors après au aucun aussi autre aux avant avec avoir c ça car ce ceci cela celle
                celui ces cet cette ceux chaque chez comme comment d dans de depuis des donc dont du elle elles en
                encore entre es est et été étaient était être eu eux fait fut il ils j je jusqu l la là le les leur
                leurs lors lui m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où par parce pas peu
                peut plus pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses
                si son sont sous sur t ta te tes toi ton tous tout toute toutes très tu un une vos votre vous y"""
            )
        ),
        "es": frozenset(
            word_list(
                """a al algo algunas algunos ante antes aquel aquella así aún aunque cada como cómo con contra cual
                cuál cuales cuando cuándo de del desde después donde dónde dos durante e el él ella ellas ellos en
                entre era eran es esa esas ese eso esos esta está están estas este esto estos fue fueron ha había
                han hasta hay la las le les lo los más me mi mientras muy nada ni no nos nosotros nuestra nuestro o
                otra otro otros para pero poco por porque puede pues que qué quien quién se sea según ser si sí sido
                sin sino sobre son su sus también tan tanto te tiene todo todos tu un una uno unos usted y ya yo"""
            )
        ),
        "it": frozenset(
            word_list(
                """a agli ai al alla alle allo anche ancora avere c che chi ci cioè come con cosa così cui da dagli dai
                dal dalla dalle dei del della delle dello di dopo dove due e è ed era erano essere fra fu ha hanno i
                il in io la le lei lo loro lui ma mi mio molto ne nei nel nella nelle non nostro o ogni per perché
                più poi quale quando quanto quella quelle quelli quello questa queste questi questo qui se sei si
                sia siamo sono stata stato su sua sue sugli sui sul sulla suo tra tu tutti tutto un una uno vi"""
            )
        ),
        "pt": frozenset(
            word_list(
                """a à ao aos aquela aquele as às até com como da das de dela dele depois do dos e é ela elas ele eles
                em entre era eram essa esse esta está este eu foi foram há isso isto já lhe mais mas me mesmo meu
                minha muito na não nas nem no nos nós o onde os ou para pela pelas pelo pelos por porque qual quando
                que quem se sem ser seu seus são só sobre sua suas também te tem têm um uma umas uns você vocês"""
            )
        ),
        "nl": frozenset(
            word_list(
                """aan af al als alles altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en
                er geen had heb hebben heeft hem het hier hij hoe hun ik in is ja je kan kon kunnen maar me meer men
                met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over te tegen toch toen tot
                u uit uw van veel voor want waren was wat we wel werd wezen wie wij wil worden zal ze zei zelf zich
                zij zijn zo zonder zou"""
            )
        ),
        "tr": frozenset(
            word_list(
                """ama ancak bazı ben bir biri birçok biz böyle bu bunu bunun çok çünkü da daha de değil diğer diye en
                gibi göre hangi hem hep her hiç için ile ise kadar kaç kendi ki kim mı mi mu mü nasıl ne neden
                nerede o olan olarak olduğu oldu olup on ona onu onun sadece sen sonra şey şu tarafından tüm üzere
                var ve veya ya yani yok"""
            )
        ),
        "pl": frozenset(
            word_list(
                """a aby ale bardzo bez był była było były być ci co czy dla do gdy gdzie go i ich im ja jak jako je
                jego jej jest już kiedy kto która które który lub ma mi mnie na nad nie nich o od on ona one oni
                oraz po pod się są ta tak także tam te tego tej ten to tu ty tym w we wraz z za ze że"""
            )
        ),
        "sv": frozenset(
            word_list(
                """alla att av blev bli de dem den denna det detta dig din du då efter eller en ett för från ha hade
                han har henne hon hur i icke inte jag kan kunde med men mot mycket någon när och om oss på sedan sin
                sina själv ska som så till under upp ut vad var vara vi vid vilken är över"""
            )
        ),
        "ru": frozenset(
            word_list(
                """а без бы был была были было быть в вам вас весь во вот все всё вы где да для до его ее её если есть
                ещё же за и из или им их к как какая какие какой ко когда кто которые который ли между меня мне мы
                на над не него нее ней нет ни но о об он она они оно от по под после при с со так также там то того
                тоже только том тот у уже чем что чтобы эта эти это этого этой этот я"""
            )
        ),
        "ar": frozenset(
            word_list(
                """أن أو أي إذا إلا إلى إن التي الذي الذين اللذان به بها بين تحت تم ثم حتى حيث خلال ذلك عن عند على غير
                فوق في فيه فيها قبل قد كان كانت كل كما كم كيف لا لأن لقد لكن لم لماذا لن له لها ليس ما ماذا متى مع
                من منذ منها هؤلاء هذا هذه هل هم هنا هناك هو هي و وقد وكان وهو وهي يا أين"""
            )
        ),
        "hi": frozenset(
            word_list(
                """और का की के को है हैं था थी थे में से पर ने यह वह ये वे इस उस एक कि जो तो भी नहीं हो कर किया गया लिए
                साथ या क्या कौन कब कहाँ कैसे क्यों"""
            )
        ),
    }
)

# The languages that a word is a function word of: how a text's language is told without a model.
LANGUAGES_OF: dict[str, tuple[str, ...]] = {}
for _language, _words in STOPWORDS.items():
    for _word in sorted(_words):
        LANGUAGES_OF[_word] = (*LANGUAGES_OF.get(_word, ()), _language)

NEGATIONS = frozenset(
    word_list(
        """not no never none nor neither without cannot nicht nie kein keine keinen keinem keiner pas jamais
        aucun aucune nunca jamás ningún ninguna sin non mai nessun não nem niet geen değil yok nie не нет ни
        никогда لا لم لن ليس ليست नहीं"""
    )
)
# Characters that negate in Chinese and Japanese.
NEGATING_CHARACTERS = frozenset("不没沒无無非未否")
# Chinese characters and Japanese kana that mostly serve grammar; a bigram that touches one carries little.
FUNCTION_CHARACTERS = frozenset(
    "的了是在吗嗎呢吧啊把被哪这這那个個我你他她它们們谁誰很于於はがをにでとのへやもかねよたてだすまりるれしいな"
)

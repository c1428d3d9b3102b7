"""Serializers: what the service and the overview return, as the schemas of the HTTP API."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from possibal.errors import ForbiddenError, RefusedError
from possibal.labelling.confirmation import confirmation_page
from possibal.labelling.evaluation import LabelSetScores, Share
from possibal.labelling.explanation import (
    UNRANKED,
    action,
    mistakes_sentence,
    remainder_sentence,
)
from possibal.labelling.overview import CampaignProgress, HistoryFilter, Overview, preview
from possibal.labelling.ranking import MemberPrediction, OtherLabel, Prediction
from possibal.labelling.remarks import text_of
from possibal.labelling.row_table import RowQuery, RowState, RowTable
from possibal.labelling.service import LEASE, LabellingService, Question, StoredEvent
from possibal.labelling.storage.invitations import Visitor
from possibal.labelling.storage.journal import COPY_OF, Event
from possibal.labelling.storage.store import Item
from possibal.labelling.web import schemas

LISTED = 200
"""Rows of one answer that are listed."""
CARD, CARD_FIELDS = 300, 8
"""Characters of a cell, and fields, that a small card has."""


class Serializer:
    """Turns questions and overviews into response models."""

    def __init__(self, service: LabellingService, overview: Overview) -> None:
        """Serialize what these return."""
        self._service, self._overview = service, overview
        self._rows = RowTable(service.read_model, service.scheduler)
        self._owners = tuple(service.setup.recipe["owners"])

    # ------------------------------------------------------------ who sees what

    def session(self, visitor: Visitor | None) -> schemas.SessionOut:
        """Which campaign this is, and who is asking."""
        role, who = (str(visitor.role), visitor.who) if visitor else (None, None)
        return schemas.SessionOut(campaign=self._campaign_id, role=role, who=who)

    @property
    def _campaign_id(self) -> str:
        """What tells the campaign from others at the same address."""
        return self._service.setup.digest[:16]

    def _sees_others(self, visitor: Visitor) -> bool:
        """Whether somebody may see what others said of rows."""
        return visitor.is_owner or not self._service.setup.blind

    def check_open(self, visitor: Visitor, what: str) -> None:
        """Refuse what would show an annotator of a blind campaign what others said."""
        if not self._sees_others(visitor):
            raise ForbiddenError(
                f"People answer this campaign blind: {what} to owners alone. Ask an owner."
            )

    # ------------------------------------------------------------ questions

    def asked(self, who: str) -> schemas.AskedOut:
        """The next question for a person, or why there is none."""
        question = self._service.ask(who)
        if question is None:
            left = self._service.remainder(who)
            said = remainder_sentence(left)
            return schemas.AskedOut(question=None, reason=said, complete=left.is_complete)
        return schemas.AskedOut(question=self.question(question), reason=None)

    def again(self, row: int, who: str) -> schemas.QuestionOut:
        """A row, whoever is at it."""
        return self.question(self._service.question(row, who))

    def question(self, question: Question) -> schemas.QuestionOut:
        """A question."""
        near = [
            schemas.NearOut(item=self._item(one.item), label=one.label) for one in question.near
        ]
        why = schemas.WhyOut(
            sentence=question.sentence,
            predicted=self._prediction(question.prediction, question.members),
            near=near,
        )
        mine = question.mine and schemas.MineOut(kind=question.mine.kind, label=question.mine.label)
        return schemas.QuestionOut(
            item=self._item(self._service.shown(question)),
            source=question.source,
            lease=LEASE,
            why=why,
            mine=mine,
            copies=question.copies,
            comments=_comments(question.comments),
        )

    def _prediction(
        self, found: Prediction | None, members: Iterable[MemberPrediction] = ()
    ) -> schemas.PredictionOut | None:
        """What is predicted of a row, and what its chance was measured by."""
        predictions = self._service.scheduler.predictions
        if found is None or predictions is None:
            return None
        return schemas.PredictionOut(
            label=found.label,
            chance=_chance(found),
            necessity=found.necessity,
            measured=predictions.calibration.rows,
            members=[schemas.MemberPredictionOut(**vars(one)) for one in members],
        )

    def near_copies(self, row: int, who: str) -> schemas.NearCopiesOut:
        """Rows that are nearly the same as one."""
        shown = self._service.read_model.shown
        found = self._service.near_copies(row, who)
        return schemas.NearCopiesOut(items=[self._item(shown(item)) for item in found])

    def close_rows(self, row: int, who: str) -> schemas.CloseRowsOut:
        """Rows that are close to one."""
        found, read_model = self._service.neighbourhood(row, who), self._service.read_model
        predictions = self._service.scheduler.predictions
        own = [found.row] if found.is_open else []
        items = read_model.items([*own, *found.rows])

        def entry(row: int) -> schemas.CloseRowOut:
            known = predictions.of_row(row) if found.label and predictions else None
            return schemas.CloseRowOut(
                item=_shortened(self._item(read_model.shown(items[row]))),
                chance=None if known is None else _chance(known),
                copies=len(read_model.copies.others(row)),
            )

        rows = [entry(row) for row in found.rows]
        return schemas.CloseRowsOut(
            label=found.label, own=entry(found.row) if own else None, rows=rows
        )

    def undone(self, event: Event | None, who: str) -> schemas.UndoneOut:
        """What was taken back, and its row as a question."""
        if event is None:
            return schemas.UndoneOut(target=None, said=None, question=None)
        named = self._service.read_model.state.named(event)
        if named.label and event.row is not None:
            named = replace(named, label=self._service.setup.syntax.words(named.label))
        question = None if event.row is None else self.again(event.row, who)
        said = action(named if event.row is not None else event)
        return schemas.UndoneOut(target=event.key, said=said, question=question)

    def confirmation(
        self, who: str, label: str | None, first: int, count: int
    ) -> schemas.ConfirmationOut:
        """Rows that a person may confirm many at once."""
        page = confirmation_page(self._service, who, label, first, count)
        read_model = self._service.read_model
        items = read_model.items(one.row for one in page.rows)
        return schemas.ConfirmationOut(
            label=page.label,
            classes=[schemas.PredictedClassOut(**vars(one)) for one in page.classes],
            rows=[
                schemas.PredictedRowOut(
                    item=_shortened(self._item(read_model.shown(items[one.row]))),
                    chance=schemas.ChanceOut(**vars(one.chance)),
                    copies=len(read_model.copies.others(one.row)),
                )
                for one in page.rows
            ],
            more=page.more,
            looked_at=page.looked_at,
        )

    def _item(self, item: Item) -> schemas.ItemOut:
        """A row, its fields as its source has them."""
        setup, important = self._service.setup, self._overview.important_fields(self._owners)
        named = list(zip(setup.fields, item.cells, strict=True))
        return schemas.ItemOut(
            row=item.row,
            id=item.id,
            fields=[
                schemas.FieldOut(name=name, value=value, important=place in important)
                for place, (name, value) in enumerate(named)
                if name != setup.text
            ],
            text=dict(named).get(setup.text or "", "") or "" if setup.text else None,
            image=_image(item),
        )

    # ------------------------------------------------------------ overviews

    def campaign(self) -> schemas.CampaignOut:
        """What the campaign is."""
        setup = self._service.setup
        return schemas.CampaignOut(
            id=self._campaign_id,
            name=setup.name,
            kind=setup.kind,
            **self.classes().model_dump(),
            strategy=setup.strategy,
            answers_per_row=setup.people,
            check=len(self._service.read_model.check_rows),
            rows=setup.rows,
            blind=setup.blind,
            multi=setup.multi,
            notes=list(setup.other_notes),
            columns=[schemas.ColumnOut(name=n, kind=k, note=w) for n, k, w in setup.columns],
            people=list(self._service.read_model.state.people),
            participants=sorted(self._service.read_model.state.participants),
            guidelines=self.guidelines(),
        )

    def guidelines(self) -> schemas.GuidelinesOut:
        """How to label."""
        event = self._service.read_model.state.guidelines
        return schemas.GuidelinesOut(
            key=event and event.key, who=event and event.who, text=text_of(event)
        )

    def commented(self, stored: StoredEvent, who: str) -> schemas.CommentedOut:
        """That a comment is kept."""
        row = self._service.question(stored.event.rows[0], who)
        return schemas.CommentedOut(
            repeated=stored.repeated, counts=stored.counts, comments=_comments(row.comments)
        )

    def classes(self) -> schemas.ClassesOut:
        """The classes there are."""
        listed = [schemas.ClassOut(**vars(one)) for one in self._overview.classes()]
        return schemas.ClassesOut(classes=[one.name for one in listed], catalogue=listed)

    def found(self, name: str) -> schemas.FoundOut:
        """The row of an id, or rows whose ids are like it."""
        search = self._overview.find(name)
        near = [schemas.NamedRowOut(row=row, id=name) for row, name in search.near]
        return schemas.FoundOut(row=search.row, near=near)

    def progress(self) -> schemas.ProgressOut:
        """How far it is."""
        now = self._overview.progress()
        state, reason = ("go on", UNRANKED)
        if now.advice is not None:
            state, reason = now.advice.state.value, now.advice.reason
        if now.recall is not None:  # the share that was found stands beside it
            reason = now.recall.reason(now.sought)
        gain = mistakes_sentence(now.mistakes) if now.mistakes and not now.sought else None
        intake = self._service.intake
        arriving = intake and intake.progress
        return schemas.ProgressOut(
            rows=now.rows,
            arriving=schemas.ArrivingOut(**vars(arriving)) if arriving else None,
            left_out=list(intake.notes) if intake else [],
            answered=now.answered,
            copies=now.copies,
            left=now.left,
            unsure=now.unsure,
            bad=now.bad,
            balance=[schemas.ShareOut(label=k, count=n) for k, n in now.balance.items()],
            catalogue=self.classes().catalogue,
            advice=schemas.AdviceOut(state=state, reason=reason, gain=gain),
            sought=now.sought,
            recall=_recall(now),
            curve=[schemas.PointOut(**vars(point)) for point in now.curve],
            check=self._check(now),
            saving=schemas.SavingOut(sentence=now.saving) if now.saving else None,
            fitting=now.is_behind,
            trouble=now.trouble,
            people=[
                schemas.PersonOut(who=who, answers=n, pace=now.paces.get(who))
                for who, n in now.people.items()
            ],
            to_come=now.to_come and schemas.ToComeOut(**vars(now.to_come)),
            conflicts=now.conflicts,
            guidelines=self.guidelines().key,
            participants=sorted(self._service.read_model.state.participants),
        )

    def results(self) -> schemas.ResultsOut:
        """What was reached, on the check rows."""
        found, now = self._overview.confusion(), self._overview.progress()
        sets = self._overview.label_sets()
        if sets is not None:
            return self._set_results(sets, now)
        return schemas.ResultsOut(
            accuracy=_measured(found.accuracy),
            classes=[
                schemas.ClassResultOut(
                    label=label,
                    recall=_measured(found.recall(place)),
                    precision=_measured(found.precision(place)),
                    counts=list(found.counts[place]),
                )
                for place, label in enumerate(found.classes)
            ],
            saving=schemas.SavingOut(sentence=now.saving) if now.saving else None,
            check=self._check(now),
        )

    def _set_results(self, found: LabelSetScores, now: CampaignProgress) -> schemas.ResultsOut:
        """What was reached where rows may have several classes: each by itself."""
        return schemas.ResultsOut(
            accuracy=_measured(found.whole),
            decisions=_measured(found.decisions),
            classes=[
                schemas.ClassResultOut(
                    label=one.label,
                    recall=_measured(one.recall),
                    precision=_measured(one.precision),
                    counts=[],
                    f1=one.f1,
                )
                for one in found.members
            ],
            saving=None,
            check=self._check(now),
        )

    def drawn(self, count: int) -> schemas.DrawnOut:
        """That so many check rows were drawn."""
        return schemas.DrawnOut(drawn=count, check=self._check(self._overview.progress()))

    def _check(self, now: CampaignProgress) -> schemas.CheckOut:
        """The check rows."""
        more = max(0, self._service.read_model.most_check_rows - now.check)
        return schemas.CheckOut(answered=now.checked, size=now.check, more=more)

    def map(self, visitor: Visitor) -> schemas.MapOut:
        """Rows in the plane, with the labels that somebody may see."""
        spots = self._overview.map(None if self._sees_others(visitor) else visitor.who)
        points = [schemas.SpotOut(**vars(spot)) for spot in spots]
        return schemas.MapOut(points=points, classes=list(self._service.read_model.classes))

    def history(self, wanted: HistoryFilter, visitor: Visitor) -> schemas.HistoryOut:
        """What people did, as far as somebody may see it."""
        if not self._sees_others(visitor):
            wanted = replace(wanted, who=visitor.who)
        entries, more = self._overview.history(wanted)
        listed = [
            schemas.EntryOut(
                key=entry.event.key,
                number=entry.event.number,
                at=entry.event.at,
                who=entry.event.who,
                kind=entry.event.kind,
                row=entry.event.row,
                id=entry.item.id,
                label=entry.event.label,
                others=entry.others,
                copies=entry.copies,
                copied=COPY_OF in (entry.event.detail or {}),
                comment=text_of(entry.event),
                holds=entry.holds,
                counts=entry.counts,
                preview=preview(entry.item),
                image=_image(entry.item),
            )
            for entry in entries
        ]
        return schemas.HistoryOut(entries=listed, more=more)

    def event_rows(self, key: str, visitor: Visitor) -> schemas.EventRowsOut:
        """The rows that an answer was about, with the labels that somebody may see."""
        read_model = self._service.read_model
        event = read_model.state.events.get(key)
        sees_others = self._sees_others(visitor)
        is_hidden = event is not None and not sees_others and event.who != visitor.who
        if event is None or event.row is None or is_hidden:
            raise RefusedError(f"key must be that of an answer; got {key!r}. Look at the history.")
        items = read_model.items(event.rows[:LISTED])
        rows = [
            schemas.LabelledRowOut(
                item=_shortened(self._item(read_model.shown(item))),
                label=read_model.label(row, None if sees_others else visitor.who),
            )
            for row, item in items.items()
        ]
        return schemas.EventRowsOut(rows=rows, left=len(event.rows) - len(rows))

    def rows(self, query: RowQuery, visitor: Visitor) -> schemas.RowsOut:
        """Rows with all that somebody may see of them."""
        sees_others = self._sees_others(visitor)
        if query.state is RowState.DIFFER:
            self.check_open(visitor, "rows on which people differ are shown")
        found = self._rows.select(query, None if sees_others else visitor.who or "")
        read_model = self._service.read_model
        return schemas.RowsOut(
            rows=[
                schemas.TableRowOut(
                    item=_shortened(self._item(one.item)),
                    label=one.label,
                    people=list(one.people),
                    state=one.state,
                    predicted=_labelled(one.prediction),
                    other=_labelled(one.other),
                    check=one.is_check,
                    copy_of=None if one.copy_of is None else read_model.shown_id(one.copy_of),
                    copies=0
                    if one.copy_of is not None
                    else len(read_model.copies.others(one.item.row)),
                )
                for one in found.rows
            ],
            count=found.count,
            looked_at=found.looked_at,
            fitting=found.is_behind,
        )

    def agreement(self, visitor: Visitor) -> schemas.AgreementOut:
        """How far people agree."""
        self.check_open(visitor, "agreement is shown")
        found = self._overview.agreement()
        pairs = [
            schemas.PairOut(one=one, other=other, rows=rows, kappa=kappa)
            for one, other, rows, kappa in found.pairs
        ]
        return schemas.AgreementOut(pairs=pairs, alpha=found.alpha, rows=found.rows)

    def conflicts(self, visitor: Visitor) -> schemas.ConflictsOut:
        """Rows of which people said different things."""
        self.check_open(visitor, "rows on which people differ are shown")
        rows = [
            schemas.ConflictOut(
                item=self._item(one.item),
                opinions=[schemas.OpinionOut(who=w, label=said) for w, said in one.said.items()],
                comments=_comments(one.comments),
                settled=one.settled,
            )
            for one in self._overview.conflicts()
        ]
        return schemas.ConflictsOut(rows=rows)


def _comments(said: Mapping[str, str]) -> list[schemas.CommentOut]:
    """Comments by who made them."""
    return [schemas.CommentOut(who=who, text=text) for who, text in said.items()]


def _shortened(item: schemas.ItemOut) -> schemas.ItemOut:
    """A row for a small card: the beginning of its text and of its first fields.

    Fields that go closely with the labels are among them, wherever they stand.
    """
    first = sorted(item.fields, key=lambda one: not one.important)[:CARD_FIELDS]
    fields = [
        one.model_copy(update={"value": one.value and one.value[:CARD]})
        for one in item.fields
        if one in first
    ]
    return item.model_copy(update={"fields": fields, "text": item.text and item.text[:CARD]})


def _labelled(found: Prediction | OtherLabel | None) -> schemas.OtherLabelOut | None:
    """A label and its chance."""
    return found and schemas.OtherLabelOut(label=found.label, chance=_chance(found))


def _recall(now: CampaignProgress) -> schemas.RecallOut | None:
    """How much of the sought class was found."""
    if now.recall is None or now.sought is None:
        return None
    return schemas.RecallOut(**now.recall.report(now.sought))


def _chance(found: Prediction | OtherLabel) -> schemas.ChanceOut:
    """The chance of a predicted label."""
    return schemas.ChanceOut(**vars(found.chance))


def _measured(share: Share) -> schemas.MeasuredOut:
    """A share of check rows."""
    low, high = share.interval
    return schemas.MeasuredOut(value=share.value, low=low, high=high, rows=share.rows)


def _image(item: Item) -> str | None:
    """The address of a row's picture, if it has one; /thumbnail behind it makes it small."""
    return f"/media/{item.row}" if item.media else None

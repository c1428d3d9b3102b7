"""Serializers: what the service and the overview return, as the schemas of the HTTP API."""

from dataclasses import replace

from possibal.errors import ForbiddenError, RefusedError
from possibal.labelling.confirmation import confirmation_page
from possibal.labelling.explanation import action, certainty
from possibal.labelling.overview import CampaignProgress, HistoryFilter, Overview, preview
from possibal.labelling.read_model import last_part
from possibal.labelling.service import LEASE, LabellingService, Question
from possibal.labelling.storage.invitations import Visitor
from possibal.labelling.storage.journal import COPY_OF, Event
from possibal.labelling.storage.store import Item
from possibal.labelling.web import schemas

NOTHING_LEFT = "No row is left to ask about. Others may still be at work on some."
LISTED = 200
"""Rows of one answer that are listed."""
CARD, CARD_FIELDS = 300, 8
"""Characters of a cell, and fields, that a small card has."""
BEGINNING = "The model has not looked at the rows yet."


class Serializer:
    """Turns questions and overviews into response models."""

    def __init__(self, service: LabellingService, overview: Overview) -> None:
        """Serialize what these return."""
        self._service, self._overview = service, overview
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
            return schemas.AskedOut(question=None, reason=NOTHING_LEFT)
        return schemas.AskedOut(question=self.question(question), reason=None)

    def again(self, row: int, who: str) -> schemas.QuestionOut:
        """A row, whoever is at it."""
        return self.question(self._service.question(row, who))

    def question(self, question: Question) -> schemas.QuestionOut:
        """A question."""
        order = self._overview.fields(self._owners)
        near = [
            schemas.NearOut(item=self._item(one.item, order), label=one.label)
            for one in question.near
        ]
        why = schemas.WhyOut(
            sentence=question.sentence,
            predicted_label=question.predicted_label,
            necessity=question.necessity,
            near=near,
        )
        mine = question.mine and schemas.MineOut(kind=question.mine.kind, label=question.mine.label)
        return schemas.QuestionOut(
            item=self._item(self._asked(question), order),
            source=question.source,
            lease=LEASE,
            why=why,
            mine=mine,
            copies=question.copies,
        )

    def near_copies(self, row: int, who: str) -> schemas.NearCopiesOut:
        """Rows that are nearly the same as one."""
        order, shown = self._overview.fields(self._owners), self._service.read_model.shown
        found = self._service.near_copies(row, who)
        return schemas.NearCopiesOut(items=[self._item(shown(item), order) for item in found])

    def undone(self, event: Event | None, who: str) -> schemas.UndoneOut:
        """What was taken back, and its row as a question."""
        if event is None:
            return schemas.UndoneOut(target=None, said=None, question=None)
        named = self._service.read_model.state.named(event)
        question = None if event.row is None else self.again(event.row, who)
        said = action(named if event.row is not None else event)
        return schemas.UndoneOut(target=event.key, said=said, question=question)

    def confirmation(
        self, who: str, label: str | None, first: int, count: int
    ) -> schemas.ConfirmationOut:
        """Rows that a person may confirm many at once."""
        page = confirmation_page(self._service, who, label, first, count)
        order, read_model = self._overview.fields(self._owners), self._service.read_model
        items = read_model.items(one.row for one in page.rows)
        return schemas.ConfirmationOut(
            label=page.label,
            classes=[schemas.PredictedClassOut(**vars(one)) for one in page.classes],
            rows=[
                schemas.PredictedRowOut(
                    item=_shortened(self._item(read_model.shown(items[one.row]), order)),
                    necessity=one.necessity,
                    certainty=certainty(one.necessity),
                    copies=len(read_model.copies.others(one.row)),
                )
                for one in page.rows
            ],
            more=page.more,
            looked_at=page.looked_at,
        )

    def _asked(self, question: Question) -> Item:
        """The row of a question; folders that tell its label show once the person answered it."""
        item = self._service.read_model.shown(question.item)
        is_hidden = self._service.setup.hidden_folders and question.mine is None
        return replace(item, id=last_part(item.id)) if is_hidden else item

    def _item(self, item: Item, order: list[int]) -> schemas.ItemOut:
        """A row, its fields in an order."""
        setup = self._service.setup
        named = [(setup.fields[place], item.cells[place]) for place in order]
        return schemas.ItemOut(
            row=item.row,
            id=item.id,
            fields=[schemas.FieldOut(name=n, value=v) for n, v in named if n != setup.text],
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
            notes=list(setup.other_notes),
            columns=[schemas.ColumnOut(name=n, kind=k, note=w) for n, k, w in setup.columns],
            people=list(self._service.read_model.state.people),
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
        state, reason = ("go on", BEGINNING)
        if now.advice is not None:
            state, reason = now.advice.state.value, now.advice.reason
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
            advice=schemas.AdviceOut(state=state, reason=reason),
            curve=[schemas.PointOut(**vars(point)) for point in now.curve],
            check=self._check(now),
            saving=schemas.SavingOut(sentence=now.saving) if now.saving else None,
            fitting=now.is_behind,
            trouble=now.trouble,
            people=[schemas.PersonOut(who=who, answers=n) for who, n in now.people.items()],
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
        read_model, order = self._service.read_model, self._overview.fields(self._owners)
        event = read_model.state.events.get(key)
        sees_others = self._sees_others(visitor)
        is_hidden = event is not None and not sees_others and event.who != visitor.who
        if event is None or event.row is None or is_hidden:
            raise RefusedError(f"key must be that of an answer; got {key!r}. Look at the history.")
        items = read_model.items(event.rows[:LISTED])
        rows = [
            schemas.LabelledRowOut(
                item=_shortened(self._item(read_model.shown(item), order)),
                label=read_model.label(row, None if sees_others else visitor.who),
            )
            for row, item in items.items()
        ]
        return schemas.EventRowsOut(rows=rows, left=len(event.rows) - len(rows))

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
        order = self._overview.fields(self._owners)
        rows = [
            schemas.ConflictOut(
                item=self._item(one.item, order),
                opinions=[schemas.OpinionOut(who=w, label=said) for w, said in one.said.items()],
                settled=one.settled,
            )
            for one in self._overview.conflicts()
        ]
        return schemas.ConflictsOut(rows=rows)


def _shortened(item: schemas.ItemOut) -> schemas.ItemOut:
    """A row for a small card: the beginning of its text and of its first fields."""
    fields = [
        one.model_copy(update={"value": one.value and one.value[:CARD]})
        for one in item.fields[:CARD_FIELDS]
    ]
    return item.model_copy(update={"fields": fields, "text": item.text and item.text[:CARD]})


def _image(item: Item) -> str | None:
    """The address of a row's picture, if it has one; /thumbnail behind it makes it small."""
    return f"/media/{item.row}" if item.media else None

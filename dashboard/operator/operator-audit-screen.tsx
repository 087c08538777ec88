// Who did what in the whole installation: all accounts, sign-ins, and what operators changed.
import { AuditTable } from '../audit/audit-table.tsx';
import { PageHeader } from '../parts/page-header.tsx';

export default function OperatorAuditScreen() {
  return (
    <>
      <PageHeader
        title="Audit log of the installation"
        description="All accounts, sign-ins and what operators did, newest first."
      />
      <AuditTable queryKey={['operator', 'audit']} path="/operator/audit" everywhere />
    </>
  );
}

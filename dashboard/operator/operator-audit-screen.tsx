// The audit log of the installation: all accounts, sign-ins, and actions of operators.
import { AuditTable } from '../audit/audit-table.tsx';
import { PageHeader } from '../parts/page-header.tsx';

export default function OperatorAuditScreen() {
  return (
    <>
      <PageHeader
        title="Installation audit log"
        description="Actions in all accounts, sign-ins, and actions of administrators."
      />
      <AuditTable queryKey={['operator', 'audit']} path="/operator/audit" allAccounts />
    </>
  );
}
